/** SMTP listener: accepted recipients, limits, and the meaning of 250. */
import { setTimeout as sleep } from "node:timers/promises";
import { query, queryOne } from "../../../models/database/db.ts";
import { bounceTokens, mailOf } from "../../../models/statements/mail-key.ts";
import { startIngester } from "../../../services/bounces/ingest.ts";
import { readReport } from "../../../services/bounces/reports/read-report.ts";
import { InboundListener, type InboundListenerLimits } from "../../../services/bounces/smtp/listener.ts";
import { newId } from "../../../services/lib/ids.ts";
import { tokenAddress } from "../../../services/lib/tokens/bounce-token.ts";
import { type App, startApp } from "../../support/app.ts";
import { bounceMessage } from "../../support/bounce-message.ts";
import { selfMadeCertificate } from "../../support/certificate.ts";
import { SmtpDialogue } from "../../support/smtp-dialogue.ts";
import { newWorld, type World } from "../tracking/world.ts";

describe("the SMTP listener", () => {
  let app: App;
  let port: number;
  const opened: SmtpDialogue[] = [];
  const certificate = selfMadeCertificate();

  beforeAll(async () => {
    app = await startApp({ services: ["bounces"], env: { INBOUND_PORT: "0", HOST: "127.0.0.1" } });
    port = (app.broker.getLocalService("bounces") as unknown as { listener: { port: number } }).listener.port;
  });
  afterEach(() => {
    for (const dialogue of opened.splice(0)) dialogue.close();
  });
  afterAll(() => app.stop());

  const greeted = async (at = port) => {
    const dialogue = await SmtpDialogue.greeted(at);
    opened.push(dialogue);
    return dialogue;
  };

  interface Bouncing extends World {
    address: string;
    /** Envelope sender of its n-th message. */
    verp(n: number): Promise<string>;
  }

  async function bouncing(mails = 1, address = `b${newId().slice(-8)}@bounces.example`): Promise<Bouncing> {
    const world = await newWorld(mails);
    await query(
      `insert into smtp_configs (id, company_id, name, host, port, sender_email, bounce_address)
       values ($1, $2, 'S', 'localhost', 25, 'news@acme.example', $3)`,
      [newId(), world.companyId, address],
    );
    const verp = async (n: number) =>
      tokenAddress(address, (await bounceTokens()).of(await mailOf(world.mails[n]!.id)));
    return { ...world, address, verp };
  }

  const statusOf = async ({ campaignNo }: World, n = 0) =>
    (await queryOne<{ status: number }>("select status from sent_emails where campaign_no = $1 and seq = $2", [
      campaignNo,
      n + 1,
    ]))!.status;
  const inbound = ({ companyId }: World) =>
    query<{ result: string; via: string }>("select result, via from inbound_messages where company_id = $1", [
      companyId,
    ]);

  test("accepts a bounce to a message's own address in any case, and to the bare address", async () => {
    const world = await bouncing(3);
    const [first, second, third] = world.mails;
    const dialogue = await greeted();
    const reply = await dialogue.send(
      [(await world.verp(0)).toUpperCase()],
      bounceMessage({ recipient: first!.email }),
    );
    expect(reply).toMatch(/^250/);
    // 250 is sent after the commit, so no wait is needed.
    expect(await statusOf(world, 0)).toBe(4);
    const bare = bounceMessage({ recipient: second!.email, messageId: `${second!.messageId}@acme.example` });
    expect(await dialogue.send([world.address], bare)).toMatch(/^250/);
    expect(await statusOf(world, 1)).toBe(4);
    // The message was forwarded: the report names another address, and the token decides.
    const forwarded = bounceMessage({ recipient: "elsewhere@far.example" });
    expect(await dialogue.send([await world.verp(2)], forwarded)).toMatch(/^250/);
    expect(await statusOf(world, 2)).toBe(4);
    expect(third!.email).not.toBe("elsewhere@far.example");
    expect(await inbound(world)).toEqual(Array(3).fill({ result: "bounced", via: "smtp" }));
    const raws = await query<{ raw: Buffer }>("select raw from inbound_raws where company_id = $1 order by id", [
      world.companyId,
    ]);
    expect(raws.map(({ raw }) => raw.toString().slice(0, 20))).toEqual(Array(3).fill("From: MAILER-DAEMON@"));
  });

  test("refuses unknown addresses, forged tokens and tokens of another company with 550 before DATA", async () => {
    const [world, other] = [await bouncing(), await bouncing()];
    const dialogue = await greeted();
    await dialogue.say("MAIL FROM:<>");
    const verp = await world.verp(0);
    const token = /\+(\w+)@/.exec(verp)![1]!;
    const forged = `${token.slice(0, 9)}${token[9] === "a" ? "b" : "a"}${token.slice(10)}`;
    const refused = [
      "somebody@bounces.example",
      "postmaster@bounces.example",
      tokenAddress(world.address, forged),
      tokenAddress(other.address, token),
      tokenAddress("somebody@bounces.example", token),
    ];
    for (const address of refused) expect(await dialogue.say(`RCPT TO:<${address}>`)).toMatch(/^550 /);
    expect(await dialogue.say("DATA")).toMatch(/^503/);
    expect(await dialogue.say(`RCPT TO:<${verp}>`)).toMatch(/^250/);
    expect(await inbound(world)).toEqual([]);
  });

  test("accepts an internationalised address in both spellings of its domain", async () => {
    const world = await bouncing(2, `b${newId().slice(-8)}@bücher.example`);
    const dialogue = await greeted();
    const punycode = (await world.verp(0)).replace("bücher", "xn--bcher-kva");
    expect(await dialogue.send([punycode], bounceMessage({ recipient: world.mails[0]!.email }))).toMatch(/^250/);
    expect(await statusOf(world)).toBe(4);
  });

  test("refuses messages beyond 1 MiB without keeping them in memory, and continues", async () => {
    const world = await bouncing();
    const dialogue = await greeted();
    const large = bounceMessage({ recipient: world.mails[0]!.email, bytes: 1_100_000 });
    expect(await dialogue.send([await world.verp(0)], large)).toMatch(/^552/);
    expect(await dialogue.say(`MAIL FROM:<> SIZE=2000000`)).toMatch(/^552/);
    expect(await statusOf(world)).toBe(2);
    const small = bounceMessage({ recipient: world.mails[0]!.email, bytes: 1_000_000 });
    expect(await dialogue.send([await world.verp(0)], small)).toMatch(/^250/);
    expect(await statusOf(world)).toBe(4);
  });

  test("answers 451 while nothing can be stored, and accepts the same message later", async () => {
    const world = await bouncing();
    const dialogue = await greeted();
    const message = bounceMessage({ recipient: world.mails[0]!.email });
    await query("alter table inbound_raws rename to elsewhere");
    try {
      expect(await dialogue.send([await world.verp(0)], message)).toMatch(/^451/);
    } finally {
      await query("alter table elsewhere rename to inbound_raws");
    }
    expect(await statusOf(world)).toBe(2);
    expect(await dialogue.send([await world.verp(0)], message)).toMatch(/^250/);
    expect(await statusOf(world)).toBe(4);
  });

  test("answers every message of a storm over 20 connections with 250, and counts every bounced mail once", async () => {
    const world = await bouncing(200);
    const talkers = await Promise.all(Array.from({ length: 20 }, () => greeted()));
    const verps = await Promise.all(world.mails.map((_, n) => world.verp(n)));
    const replies = await Promise.all(
      talkers.map(async (dialogue, at) => {
        const seen: string[] = [];
        for (let n = at; n < world.mails.length; n += talkers.length) {
          const message = bounceMessage({ recipient: world.mails[n]!.email, bytes: 5_000 });
          seen.push(await dialogue.send([verps[n]!], message), await dialogue.send([verps[n]!], message));
        }
        return seen;
      }),
    );
    expect(new Set(replies.flat().map((reply) => reply.slice(0, 3)))).toEqual(new Set(["250"]));
    expect(await inbound(world)).toHaveLength(400);
    const counted = await queryOne<{ events: number; bounced: number; suppressed: number }>(
      `select (select count(*) from email_events where company_id = $1) as events,
         (select count(*) from sent_emails where campaign_no = $2 and status = 4) as bounced,
         (select count(*) from suppressions where company_id = $1) as suppressed`,
      [world.companyId, world.campaignNo],
    );
    expect(counted).toEqual({ events: 200, bounced: 200, suppressed: 200 });
  });

  describe("enforces its limits:", () => {
    const ingester = startIngester(() => {});
    const listenWith = async (limits: InboundListenerLimits, ingest = ingester.ingest) => {
      const listener = new InboundListener({
        port: 0,
        host: "127.0.0.1",
        name: "mx.example",
        tls: certificate,
        ingester: { ingest },
        readReport,
        onError: () => {},
        limits,
      });
      return { listener, at: await listener.listen() };
    };

    test("connections per network are limited, and another one is accepted when one ends", async () => {
      const { listener, at } = await listenWith({ maxOfNetwork: 2 });
      try {
        const [first] = [await greeted(at), await greeted(at)];
        const { dialogue, greeting } = await SmtpDialogue.open(at);
        expect(greeting).toMatch(/^421/);
        await dialogue.untilClosed();
        first!.close();
        await first!.untilClosed();
        // The server notices it a moment later.
        for (let tries = 0; ; tries++) {
          const again = await SmtpDialogue.open(at);
          opened.push(again.dialogue);
          if (again.greeting.startsWith("220")) break;
          if (tries === 500) throw new Error("The place of a connection that ended is still taken");
          await sleep(10);
        }
      } finally {
        await listener.stop();
      }
    });

    test("the connection of a message that arrives too slowly is closed", async () => {
      const { listener, at } = await listenWith({ maxMessageMs: 400 });
      const world = await bouncing();
      const dialogue = await greeted(at);
      try {
        await dialogue.say("MAIL FROM:<>");
        await dialogue.say(`RCPT TO:<${await world.verp(0)}>`);
        await dialogue.say("DATA");
        const drip = setInterval(() => dialogue.write("X-Slow: yes\r\n"), 20);
        await dialogue.untilClosed().finally(() => clearInterval(drip));
        expect(await inbound(world)).toEqual([]);
      } finally {
        await listener.stop();
      }
    });

    test("offers STARTTLS if there is a certificate", async () => {
      const { listener, at } = await listenWith({});
      const world = await bouncing();
      try {
        const { dialogue } = await SmtpDialogue.open(at);
        opened.push(dialogue);
        expect(await dialogue.say("EHLO client.example")).toContain("STARTTLS");
        await dialogue.startTls();
        await dialogue.say("EHLO client.example");
        const message = bounceMessage({ recipient: world.mails[0]!.email });
        expect(await dialogue.send([await world.verp(0)], message)).toMatch(/^250/);
        expect(await statusOf(world)).toBe(4);
      } finally {
        await listener.stop();
      }
      const plain = await greeted();
      expect(await plain.say("STARTTLS")).toMatch(/^5/);
    });

    // Exim closes its side right after QUIT, which it sends together with the last line of the message.
    test.each([
      ["after QUIT", "QUIT\r\n", false],
      ["after QUIT, over TLS", "QUIT\r\n", true],
      ["without QUIT", "", false],
      ["without QUIT, over TLS", "", true],
    ])(
      "a client that half-closes after the message %s gets its answer, then the connection ends",
      async (_, quit, overTls) => {
        const storing = async (...args: Parameters<typeof ingester.ingest>) => {
          // Longer than the client needs to close its side, and than an idle half-closed connection is kept.
          await sleep(300);
          return ingester.ingest(...args);
        };
        const { listener, at } = await listenWith({ afterEndMs: 50 }, storing);
        const world = await bouncing();
        try {
          const dialogue = await greeted(at);
          if (overTls) {
            await dialogue.startTls();
            await dialogue.say("EHLO client.example");
          }
          for (const line of ["MAIL FROM:<>", `RCPT TO:<${await world.verp(0)}>`, "DATA"]) await dialogue.say(line);
          dialogue.end(`${bounceMessage({ recipient: world.mails[0]!.email })}\r\n.\r\n${quit}`);
          expect(await dialogue.reply()).toMatch(/^250/);
          await dialogue.untilClosed();
          expect(await inbound(world)).toHaveLength(1);
        } finally {
          await listener.stop();
        }
      },
    );

    test.each([
      ["plain", false],
      ["over TLS", true],
    ])("closes the connection of a client that half-closed it and expects no reply (%s)", async (_, overTls) => {
      const { listener, at } = await listenWith({ afterEndMs: 50 });
      try {
        const dialogue = await greeted(at);
        if (overTls) await dialogue.startTls();
        dialogue.end();
        await dialogue.untilClosed();
        const inMessage = await greeted(at);
        for (const line of ["MAIL FROM:<>", `RCPT TO:<${await (await bouncing()).verp(0)}>`, "DATA"])
          await inMessage.say(line);
        inMessage.end("Subject: cut");
        await inMessage.untilClosed();
      } finally {
        await listener.stop();
      }
    });

    test("when stopped it answers the messages received, then ends the connections", async () => {
      const { listener, at } = await listenWith({});
      const world = await bouncing();
      const dialogue = await greeted(at);
      await dialogue.say("MAIL FROM:<>");
      await dialogue.say(`RCPT TO:<${await world.verp(0)}>`);
      await dialogue.say("DATA");
      dialogue.write(`${bounceMessage({ recipient: world.mails[0]!.email })}\r\n.\r\n`);
      const answer = dialogue.reply();
      // The report is listed once it is stored; the answer may still be in transit.
      for (let tries = 0; (await inbound(world)).length === 0; tries++) {
        if (tries === 1_000) throw new Error("The message was not stored");
        await sleep(10);
      }
      await listener.stop();
      expect(await answer).toMatch(/^250/);
      await dialogue.untilClosed();
    });
  });
});
