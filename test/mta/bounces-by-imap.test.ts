/**
 * The whole path with third-party servers: Postfix accepts a campaign, fails to deliver it and writes bounces; Dovecot
 * files them, and they are read by IMAP. Needs root.
 */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { createInterface } from "node:readline";
import type { MailServer } from "../support/mta/daemon.ts";
import { SENDER_DOMAIN } from "../support/mta/deliveries.ts";
import { type Dovecot, startDovecot } from "../support/mta/dovecot.ts";
import { startPostfix } from "../support/mta/postfix.ts";
import { type MailService, openService } from "../support/mta/service.ts";

jest.setTimeout(180_000);

const WAIT_MS = 60_000;
const PASSWORD = "mailbox-secret";
const BOUNCES = `bounces@${SENDER_DOMAIN}`;

/** The last server's answer to a recipient, by the first word of the address. */
const REFUSALS: Record<string, string> = {
  gone: "550 5.1.1 User unknown",
  full: "552 5.2.2 Mailbox full",
  spam: "550 5.7.1 Message refused by content policy",
};

/** Accepts mail by LMTP, behind Postfix. */
async function startLast(): Promise<Server> {
  const server = createServer((socket) => {
    const say = (line: string) => socket.write(`${line}\r\n`);
    let accepted = 0;
    let inData = false;
    say("220 last.example LMTP");
    socket.on("error", () => {});
    const read = createInterface(socket);
    read.on("error", () => {});
    read.on("line", (line) => {
      if (inData) {
        if (line !== ".") return;
        inData = false;
        for (; accepted > 0; accepted--) say("250 2.0.0 Filed");
        return;
      }
      const refusal = /^RCPT TO:<(\w+)-/i.test(line) && REFUSALS[/<(\w+)-/.exec(line)![1]!];
      if (/^QUIT/i.test(line)) socket.end("221 Bye\r\n");
      else if (/^DATA/i.test(line)) {
        inData = true;
        say("354 Go on");
      } else if (refusal) say(refusal);
      else {
        if (/^RCPT/i.test(line)) accepted++;
        say("250 2.0.0 Fine");
      }
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

let last: Server;
let dovecot: Dovecot;
let postfix: MailServer;
let service: MailService;
beforeAll(async () => {
  [last, dovecot] = await Promise.all([startLast(), startDovecot({ password: PASSWORD })]);
  const lmtp = (port: number) => `lmtp:inet:127.0.0.1:${port}`;
  [service, postfix] = await Promise.all([
    openService(),
    startPostfix({
      main: {
        transport_maps: `inline:{ { far.example = ${lmtp((last.address() as AddressInfo).port)} }, { ${SENDER_DOMAIN} = ${lmtp(dovecot.port)} } }`,
      },
    }),
  ]);
});
afterAll(async () => {
  await Promise.all([service?.stop(), postfix?.stop(), dovecot?.stop()]);
  last?.close();
});

interface Inbound {
  via: string;
  recipient: string;
  result: string;
  bounce_type: string | null;
}

test("bounces of Postfix arrive through Dovecot: statuses and one suppression follow, and the next campaign leaves the address out", async () => {
  const smtp = await service.configure({
    port: postfix.port,
    bounce_address: BOUNCES,
    bounce_mailbox: {
      host: "127.0.0.1",
      port: dovecot.imapPort,
      username: BOUNCES,
      password: PASSWORD,
      use_tls: false,
    },
  });
  const receivers = ["gone", "full", "spam", "fine"].map((word) => ({ email: `${word}-1@far.example` }));
  const campaign = await service.sendBy(smtp, receivers);
  expect(await service.finished(campaign)).toMatchObject({ status: "completed", sent_count: 4, failed_count: 0 });

  const counts = await service.until(
    () => service.counts(campaign),
    // Statuses are counted by separate queries, and mails change between them.
    ({ sent, bounced }) => sent === 1 && bounced === 3,
    WAIT_MS,
  );
  expect(counts).toEqual({ sent: 1, bounced: 3 });
  expect(await service.campaign(campaign)).toMatchObject({ status: "completed", sent_count: 4, failed_count: 0 });
  const { results } = await service.api<{ results: Inbound[] }>("GET", "/api/emails/inbound/");
  const listed = results.map(
    ({ via, recipient, result, bounce_type }) => `${via} ${recipient} ${result} ${bounce_type}`,
  );
  expect(listed.sort()).toEqual([
    "imap full-1@far.example bounced soft",
    "imap gone-1@far.example bounced hard",
    "imap spam-1@far.example bounced block",
  ]);
  expect(await service.suppressions()).toBe(1);

  const next = await service.sendBy(smtp, [receivers[0]!, receivers[3]!]);
  expect(await service.finished(next)).toMatchObject({ status: "completed", sent_count: 1 });
  expect(dovecot.log()).not.toMatch(/panic|fatal/i);
});
