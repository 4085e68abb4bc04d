/**
 * A server that cuts and merges its replies at random, refuses at random, and drops connections at any byte: each result
 * must agree with what the server really did with that very message.
 */
import fc from "fast-check";
import { openSession } from "../../../services/smtp-sender/smtp/session.ts";
import type { OutgoingMessage, TransactionResult } from "../../../services/smtp-sender/smtp/transaction.ts";
import { sendFrom } from "../../support/mta/pipeline.ts";
import { type Command, type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";

interface Note extends OutgoingMessage {
  no: number;
}

const COUNT = 12;

const note = (no: number): Note => {
  const text = `Message-ID: <${no}@x>\r\n\r\n${"body ".repeat(no * 5)}\r\n`;
  const to = no % 4 === 0 ? [`r${no}@x.y`, `copy${no}@x.y`] : [`r${no}@x.y`];
  return { no, from: `s${no}@x.y`, to, body: [text], bytes: text.length, smtpUtf8: false, eightBit: false };
};

async function deliverOver(server: SmtpServer): Promise<Map<number, TransactionResult>> {
  const session = await openSession(
    { host: "127.0.0.1", port: server.port, useTls: false, username: "", password: "" },
    { allowPrivate: true },
  );
  const results = new Map<number, TransactionResult>();
  let next = 1;
  await new Promise<void>((done) => {
    const pipeline = sendFrom<Note>(session, {
      next: () => (next <= COUNT ? note(next++) : undefined),
      answered: ({ no }, result) => {
        expect(results.has(no)).toBe(false);
        results.set(no, result);
        if (results.size === COUNT) pipeline.quit();
      },
      closed: () => done(),
    });
  });
  return results;
}

const refusal = fc.constantFrom(
  "550 5.1.1 no",
  "450 4.2.0 later",
  "554 5.7.1 spam",
  "250 ok",
  "250 2.0.0 fine\nindeed",
);
const script = fc.record({
  pipelining: fc.boolean(),
  refusals: fc.dictionary(
    fc.constantFrom(...["MAIL", "RCPT", "DATA", "DOT"].flatMap((v) => [1, 3, 4, 7, 8].map((n) => `${v} ${n}`))),
    refusal,
  ),
  dropAt: fc.option(fc.integer({ min: 30, max: 3_000 }), { nil: undefined }),
  cuts: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
});

test("results agree with the server's actions, however it behaves", async () => {
  await fc.assert(
    fc.asyncProperty(script, async ({ pipelining, refusals, dropAt, cuts }) => {
      const numberOf = (command: Command) => /s(\d+)@/.exec(command.from)?.[1] ?? "";
      let turn = 0;
      const server = await startSmtpServer({
        pipelining,
        ...(dropAt === undefined ? {} : { dropAtByte: () => dropAt }),
        cut: (text) => {
          const pieces: string[] = [];
          for (let at = 0; at < text.length; ) {
            const size = cuts[turn++ % cuts.length]!;
            pieces.push(text.slice(at, at + size));
            at += size;
          }
          return pieces;
        },
        answer: (command) => {
          const answer = refusals[`${command.verb} ${numberOf(command)}`];
          // A 2xx to DATA would be no SMTP at all.
          return command.verb === "DATA" && answer?.startsWith("2") ? undefined : answer;
        },
      });
      try {
        // The connection may end while it is being opened.
        const results = await deliverOver(server).catch(() => new Map<number, TransactionResult>());
        for (let no = 1; no <= COUNT; no++) {
          const accepted = server.messages.some(({ messageId }) => messageId === `<${no}@x>`);
          const result = results.get(no);
          if (accepted) expect(["accepted", "doubt"]).toContain(result?.kind);
          if (result?.kind === "accepted") expect(accepted).toBe(true);
          if (result?.kind === "refused") {
            const verb = result.stage === "endOfData" ? "DOT" : result.stage.toUpperCase();
            expect(refusals[`${verb} ${no}`] ?? "").toContain(result.reply.text.slice(4, 9));
          }
          if (dropAt === undefined) expect(["accepted", "refused"]).toContain(result?.kind);
        }
        expect(server.doubled).toEqual([]);
        if (pipelining) expect(server.protocolErrors).toEqual([]);
        expect([...results.values()].filter(({ kind }) => kind === "doubt").length).toBeLessThanOrEqual(1);
      } finally {
        await server.stop();
      }
    }),
    { numRuns: 150 },
  );
});

test.each([
  ["an answer too many", "250 2.1.0 ok\r\n250 2.1.0 ok"],
  ["something that is not an answer", "hello"],
  ["an answer that is none to this command", "354 go ahead"],
])("%s ends the session; nothing is attributed to another message", async (_name, lie) => {
  const server = await startSmtpServer({
    answer: ({ verb, from }) => (verb === "MAIL" && from.startsWith("s3@") ? lie : undefined),
  });
  const results = await deliverOver(server);
  expect(results.get(1)!.kind).toBe("accepted");
  for (let no = 3; no <= COUNT; no++) expect([undefined, "unsent"]).toContain(results.get(no)?.kind);
  await server.stop();
});
