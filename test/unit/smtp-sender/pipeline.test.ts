import { type AddressInfo, createServer, type Socket } from "node:net";
import { openSession, type Session } from "../../../services/smtp-sender/smtp/session.ts";
import { RFC_TIMEOUTS } from "../../../services/smtp-sender/smtp/timeouts.ts";
import type { OutgoingMessage, TransactionResult } from "../../../services/smtp-sender/smtp/transaction.ts";
import { sendFrom } from "../../support/mta/pipeline.ts";
import { type SmtpServer, type SmtpServerOptions, startSmtpServer } from "../../support/smtp-server.ts";

interface Note extends OutgoingMessage {
  no: number;
}

let server: SmtpServer;
afterEach(() => server.stop());

const note = (no: number, to: readonly string[] = [`r${no}@example.com`], padding = 0): Note => {
  const text = `Message-ID: <${no}@x>\r\nSubject: ${no}\r\n\r\nbody ${no}\r\n${"x".repeat(padding)}\r\n`;
  return { no, from: "a@example.com", to, body: [text], bytes: text.length, smtpUtf8: false, eightBit: false };
};

const open = (): Promise<Session> =>
  openSession(
    { host: "127.0.0.1", port: server.port, useTls: false, username: "", password: "" },
    { allowPrivate: true },
  );

/** Sends the messages over one connection, and returns each one's result once the connection is over or all are answered. */
async function sendAll(messages: Note[], session?: Session, timeouts = RFC_TIMEOUTS) {
  const results = new Map<number, TransactionResult>();
  const waiting = [...messages];
  const connection = session ?? (await open());
  let reason = "";
  await new Promise<void>((done) => {
    const pipeline = sendFrom<Note>(
      connection,
      {
        next: () => waiting.shift(),
        answered: (message, result) => {
          if (results.has(message.no)) throw new Error(`${message.no} was answered twice`);
          results.set(message.no, result);
          // A notification may wake all connections: no message may be started twice or forgotten.
          pipeline.wake();
          if (results.size === messages.length) pipeline.quit();
        },
        closed: (why) => {
          reason = why;
          done();
        },
      },
      timeouts,
    );
  });
  return { results, waiting, reason, kinds: messages.map(({ no }) => results.get(no)?.kind ?? "not begun") };
}

const start = async (options: SmtpServerOptions = {}) => {
  server = await startSmtpServer(options);
};

describe.each([true, false])("the pipeline (PIPELINING offered: %s)", (pipelining) => {
  test("sends one message after the other over one connection", async () => {
    await start({ pipelining });
    const { kinds } = await sendAll([1, 2, 3, 4, 5].map((no) => note(no)));
    expect(kinds).toEqual(Array(5).fill("accepted"));
    expect(server.messages.map(({ to, raw }) => [to, /body (\d)/.exec(raw)![1]])).toEqual(
      [1, 2, 3, 4, 5].map((no) => [[`r${no}@example.com`], `${no}`]),
    );
    expect(server).toMatchObject({ connections: 1, protocolErrors: [], doubled: [] });
  });

  test("attributes each refusal to the message it belongs to", async () => {
    const answers: Record<string, string> = {
      "MAIL 2": "550 5.7.1 not you",
      "RCPT 3": "550 5.1.1 nobody",
      "RCPT 5": "450 4.2.0 later",
      "DATA 6": "451 4.3.0 no data now",
      "DOT 8": "554 5.7.1 spam",
    };
    let no = 0;
    await start({
      pipelining,
      answer: ({ verb }) => {
        if (verb === "MAIL") no++;
        return answers[`${verb} ${no}`];
      },
    });
    const { results } = await sendAll([1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => note(n)));
    const kinds = [...results.entries()]
      .sort(([a], [b]) => a - b)
      .map(([, v]) => (v.kind === "refused" ? v.stage : v.kind));
    expect(kinds).toEqual([
      "accepted",
      "mail",
      "rcpt",
      "accepted",
      "rcpt",
      "data",
      "accepted",
      "endOfData",
      "accepted",
    ]);
    expect(server.messages.map(({ messageId }) => messageId)).toEqual(["<1@x>", "<4@x>", "<7@x>", "<9@x>"]);
    expect(server.protocolErrors).toEqual([]);
  });

  test("sends to the others if some recipients of one message are refused", async () => {
    await start({
      pipelining,
      answer: ({ verb, to }) => (verb === "RCPT" && to.startsWith("no") ? "550 5.1.1 no" : undefined),
    });
    const { results } = await sendAll([note(1, ["no1@x.y", "yes@x.y", "no2@x.y"]), note(2)]);
    expect(results.get(1)).toMatchObject({ kind: "accepted", refused: [{ to: "no1@x.y" }, { to: "no2@x.y" }] });
    expect(server.messages[0]!.to).toEqual(["yes@x.y"]);
  });

  test("sends an empty message on 354 although every recipient was refused, and the next one succeeds", async () => {
    await start({
      pipelining,
      answer: ({ verb, to }) =>
        verb === "RCPT" && to === "r1@example.com" ? "550 5.1.1 no" : verb === "DATA" ? "354 go on" : undefined,
    });
    const { kinds } = await sendAll([note(1), note(2)]);
    expect(kinds).toEqual(["refused", "accepted"]);
    expect(server.messages.map(({ messageId }) => messageId)).toEqual(["<2@x>"]);
  });

  test("sends the next messages completely to a server that stays in the transaction of a message it refused", async () => {
    let no = 0;
    await start({
      pipelining,
      keepsRefusedTransaction: true,
      answer: ({ verb }) => (verb === "DOT" && [1, 3, 4].includes(++no) ? "451 4.3.0 policy says later" : undefined),
    });
    const { kinds } = await sendAll([1, 2, 3, 4, 5].map((n) => note(n)));
    expect(kinds).toEqual(["refused", "accepted", "refused", "refused", "accepted"]);
    expect(server.messages.map(({ messageId, to }) => [messageId, to])).toEqual([
      ["<2@x>", ["r2@example.com"]],
      ["<5@x>", ["r5@example.com"]],
    ]);
    expect(server.protocolErrors).toEqual([]);
  });

  test("ends the session on 503 to MAIL: no verdict on the sender, the message was certainly not accepted", async () => {
    let mails = 0;
    await start({
      pipelining,
      answer: ({ verb }) => (verb === "MAIL" && ++mails === 2 ? "503 5.5.1 Error: nested MAIL command" : undefined),
    });
    const { kinds, reason } = await sendAll([1, 2, 3].map((n) => note(n)));
    expect(kinds).toEqual(["accepted", "unsent", "not begun"]);
    expect(reason).toContain("nested MAIL");
    expect(server.messages.map(({ messageId }) => messageId)).toEqual(["<1@x>"]);
  });

  test("writes nothing more, not even an empty message, if MAIL is refused and its recipient accepted", async () => {
    let mails = 0;
    await start({
      pipelining,
      answersAnyway: true,
      answer: ({ verb }) => (verb === "MAIL" && ++mails === 2 ? "451 4.3.0 not now" : undefined),
    });
    const { kinds } = await sendAll([1, 2].map((n) => note(n)));
    expect(kinds).toEqual(["accepted", "refused"]);
    expect(server.messages.map(({ messageId }) => messageId)).toEqual(["<1@x>"]);
  });

  test.each(["MAIL", "RCPT", "DATA", "DOT"])("loses nothing and leaves nothing in doubt on 421 at %s", async (at) => {
    await start({
      pipelining,
      answer: ({ verb, accepted }) => (verb === at && accepted === 2 ? "421 4.3.2 bye" : undefined),
    });
    const { kinds, waiting } = await sendAll([1, 2, 3, 4, 5].map((no) => note(no)));
    expect(kinds.slice(0, 3)).toEqual(["accepted", "accepted", "unsent"]);
    expect(kinds).not.toContain("doubt");
    expect(waiting.length + kinds.filter((kind) => kind === "unsent").length).toBe(3);
    expect(server.accepted).toBe(2);
  });

  test("leaves only the message in doubt that was unanswered when the connection ended", async () => {
    await start({
      pipelining,
      answer: ({ verb, accepted }) => (verb === "DOT" && accepted === 1 ? { drop: true, accept: true } : undefined),
    });
    const { kinds } = await sendAll([1, 2, 3].map((no) => note(no)));
    expect(kinds.slice(0, 2)).toEqual(["accepted", "doubt"]);
    expect(kinds[2]).not.toBe("doubt");
  });

  test("has a time-out for each stage of a dead server", async () => {
    await start({ pipelining, answer: ({ verb }) => (verb === "DOT" ? { hang: true } : undefined) });
    const timeouts = { ...RFC_TIMEOUTS, endOfData: 40 };
    const { kinds, reason } = await sendAll([note(1), note(2)], undefined, timeouts);
    expect(kinds[0]).toBe("doubt");
    expect(kinds[1]).not.toBe("doubt");
    expect(reason).toMatch(/DOT/);
  });
});

test("the pipeline ends each message but the first in one write with the envelope of the next: one round trip each", async () => {
  await start();
  const writes: string[] = [];
  const session = await open();
  const write = session.socket.write.bind(session.socket);
  session.socket.write = ((data: Buffer | string, ...more: never[]) => {
    writes.push(data.toString("latin1"));
    return write(data, ...more);
  }) as typeof write;
  const { kinds } = await sendAll(
    [1, 2, 3, 4, 5].map((no) => note(no)),
    session,
  );
  expect(kinds).toEqual(Array(5).fill("accepted"));
  const verbs = writes.map((text) => [...text.matchAll(/^(?:MAIL|DATA|\.|QUIT)(?=[\r ])/gm)].map(String).join(" "));
  // The first answer shows that the server is quick.
  expect(verbs.slice(0, 6)).toEqual(["MAIL DATA", ".", "MAIL DATA", ". MAIL DATA", ". MAIL DATA", ". MAIL DATA"]);
});

test("a large message is written in slices and arrives whole", async () => {
  await start();
  const big = note(1, undefined, 3_000_000);
  const { kinds } = await sendAll([note(0), big, note(2)]);
  expect(kinds).toEqual(["accepted", "accepted", "accepted"]);
  expect(server.messages[1]!.raw).toBe(big.body[0]!);
});

test.each([
  [".", "..", ".a", "a.", "."],
  [".\r\n", "\r\n.\r\n", "\r\n..", "\r\n.\r\nMAIL FROM:<evil@example.com>\r\n.\r\n"],
])("lines that begin with a dot arrive as they are, and end no message: %j", async (...bodies: string[]) => {
  await start();
  const messages = [0, 200_000].flatMap((padding, n) =>
    bodies.map((text, i) => {
      const body = `${"x".repeat(padding)}${padding > 0 && !text.startsWith("\r") ? "\r\n" : ""}${text}`;
      return { ...note(10 * n + i), body: [body] };
    }),
  );
  const { kinds } = await sendAll(messages);
  expect(kinds).toEqual(messages.map(() => "accepted"));
  const ended = ([body]: readonly string[]) => (body!.endsWith("\r\n") ? body! : `${body}\r\n`);
  expect(server.messages.map(({ raw }) => raw)).toEqual(messages.map(({ body }) => ended(body)));
});

test("an email that the server cannot accept is reported, and the next one is sent", async () => {
  await start({ extensions: ["SIZE 1000"] });
  const { results } = await sendAll([
    note(1, undefined, 2_000),
    { ...note(2), smtpUtf8: true },
    { ...note(3), eightBit: true },
    note(4),
  ]);
  expect([1, 2, 3, 4].map((no) => results.get(no)!.kind)).toEqual([
    "impossible",
    "impossible",
    "impossible",
    "accepted",
  ]);
  expect(server.messages[0]!.parameters).toBe(`SIZE=${note(4).bytes}`);
});

test("a server that accepts a message before it has the whole of it is not believed", async () => {
  await start();
  const said = ["220 hi", "250-hi\r\n250 PIPELINING", "250 ok\r\n250 ok\r\n354 go", "250 accepted already"];
  let theirs: Socket | undefined;
  const hasty = createServer((socket) => {
    theirs = socket;
    const say = (text: string | undefined) => text !== undefined && socket.write(`${text}\r\n`);
    say(said[0]);
    let heard = 0;
    socket.on("error", () => {});
    socket.on("data", () => {
      // The server reads only the first bytes of the message.
      if (++heard === 3) socket.pause();
      say(said[heard]);
    });
  });
  await new Promise<void>((done) => hasty.listen(0, "127.0.0.1", done));
  const session = await openSession(
    { host: "127.0.0.1", port: (hasty.address() as AddressInfo).port, useTls: false, username: "", password: "" },
    { allowPrivate: true },
  );
  const { kinds, reason } = await sendAll([note(1, undefined, 20_000_000)], session);
  expect(kinds).toEqual(["unsent"]);
  expect(reason).toMatch(/accepted already/);
  // Paused, it never sees that we have closed the connection.
  theirs?.destroy();
  hasty.close();
});
