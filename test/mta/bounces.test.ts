/**
 * Real mail servers that accept mail and cannot deliver it later: their bounces reach the listener, and the next
 * campaign skips the recipients. Needs root.
 */
import { unusedPort } from "../../services/lib/processes/unused-port.ts";
import { linesOf, type MailServer } from "../support/mta/daemon.ts";
import { startExim } from "../support/mta/exim.ts";
import { startOpenSmtpd } from "../support/mta/opensmtpd.ts";
import { startPostfix } from "../support/mta/postfix.ts";
import { type MailService, openService } from "../support/mta/service.ts";
import { type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";

jest.setTimeout(180_000);

const E = "/api/emails";
/** Postfix's final answer for each, after it accepted the mail. */
const FATES = {
  "unknown@to.example": "error:5.1.1 User unknown",
  "full@to.example": "error:5.2.2 Mailbox full, quota exceeded",
  "large@to.example": "error:5.3.4 Message size exceeds fixed limit",
  "content@to.example": "error:5.7.1 Message content rejected",
  "away@to.example": "retry:4.4.1 No answer from host",
};
const FINE = "fine@to.example";
const everybody = [...Object.keys(FATES), FINE].map((email) => ({ email }));

interface Inbound {
  recipient: string;
  via: string;
  result: string;
  bounce_type: string | null;
  raw_url: string | null;
}

describe("Postfix bouncing what it has accepted", () => {
  let service: MailService;
  let server: MailServer;

  beforeAll(async () => {
    const port = await unusedPort();
    service = await openService({ HOST: "127.0.0.1", INBOUND_PORT: String(port) });
    const fates = Object.entries(FATES).map(([address, fate]) => `{${address} = ${fate}}`);
    server = await startPostfix({
      main: {
        transport_maps: `inline:{${[...fates, `{b.example = smtp:[127.0.0.1]:${port}}`].join(", ")}}`,
        // Otherwise it would refuse undeliverable recipients at RCPT.
        smtpd_reject_unlisted_recipient: "no",
        // Mail that fails at the first try has expired.
        maximal_queue_lifetime: "0",
        bounce_queue_lifetime: "0",
      },
    });
  });
  afterAll(() => Promise.all([service?.stop(), server?.stop()]));

  const inbound = async () => (await service.api<{ results: Inbound[] }>("GET", `${E}/inbound/?page_size=100`)).results;

  test("each bounce is matched to its mail by its address, and parsed", async () => {
    const config = await service.configure({ port: server.port });
    await service.api("PATCH", `${E}/smtp-configs/${config}/`, { bounce_address: "bounces@b.example" });
    const id = await service.sendBy(config, everybody);
    expect(await service.finished(id)).toMatchObject({ status: "completed", sent_count: 6, failed_count: 0 });
    const came = await service.until(inbound, (seen) => seen.length >= 5, 60_000);
    const kinds = Object.fromEntries(
      came.map(({ recipient, result, bounce_type }) => [recipient, [result, bounce_type]]),
    );
    expect(kinds).toMatchObject({
      "unknown@to.example": ["bounced", "hard"],
      "full@to.example": ["bounced", "soft"],
      "large@to.example": ["bounced", "soft"],
      "content@to.example": ["bounced", "block"],
    });
    // Expired mail says nothing about the mailbox: it suppresses nobody, of any kind.
    expect(kinds["away@to.example"]![0]).toBe("bounced");
    expect(await service.counts(id)).toEqual({ sent: 1, bounced: 5 });
    expect(await service.suppressions()).toBe(1);
    expect(linesOf(server.log(), /improper command pipelining|warning:|fatal:/)).toEqual([]);

    const second = await service.sendBy(config, everybody);
    await service.finished(second);
    const mails = await service.sentEmails(second);
    expect(mails.find(({ recipient }) => recipient === "unknown@to.example")?.status ?? "left out").not.toBe("sent");
    await service.until(inbound, (seen) => seen.length >= 9, 60_000);
    expect((await inbound()).filter(({ recipient }) => recipient === "unknown@to.example")).toHaveLength(1);
  });
});

/** Answers of the server behind the relay, and their command. */
const REFUSALS: Record<string, { verb: "RCPT" | "DOT"; text: string }> = {
  "unknown@to.example": {
    verb: "RCPT",
    text: "550 5.1.1 <unknown@to.example>: Recipient address rejected: User unknown",
  },
  "full@to.example": { verb: "RCPT", text: "552 5.2.2 Mailbox full" },
  "large@to.example": { verb: "DOT", text: "552 5.3.4 Message size exceeds fixed limit" },
  "content@to.example": { verb: "DOT", text: "550 5.7.1 Message content rejected" },
  // Repeated until the relay gives up after a few seconds.
  "away@to.example": { verb: "RCPT", text: "451 4.3.2 Please try again later" },
};

type Relay = (ports: { out: number; back: number }) => Promise<MailServer>;

const RELAYS: [string, Relay][] = [
  [
    "Exim",
    ({ out, back }) =>
      startExim({ relay: { "to.example": out, "b.example": back }, retry: ["away@to.example * F,2s,1s"] }),
  ],
  [
    "OpenSMTPD",
    ({ out, back }) =>
      startOpenSmtpd({
        lines: [
          `action "out" relay host smtp://127.0.0.1:${out}`,
          `action "brief" relay host smtp://127.0.0.1:${out} ttl 3s`,
          `action "back" relay host smtp://127.0.0.1:${back}`,
          'match from any for domain "b.example" action "back"',
          'match from any for rcpt-to "away@to.example" action "brief"',
          'match from any for domain "to.example" action "out"',
        ],
      }),
  ],
];

describe.each(RELAYS)("%s between the service and a server that refuses", (_name, startRelay) => {
  let service: MailService;
  let relay: MailServer;
  let refusing: SmtpServer;

  beforeAll(async () => {
    const back = await unusedPort();
    service = await openService({ HOST: "127.0.0.1", INBOUND_PORT: String(back) });
    refusing = await startSmtpServer({
      answer: ({ verb, to }) => {
        const refusal = REFUSALS[to];
        return refusal?.verb === verb ? refusal.text : undefined;
      },
    });
    relay = await startRelay({ out: refusing.port, back });
  });
  afterAll(() => Promise.all([service?.stop(), relay?.stop(), refusing?.stop()]));

  test("its bounces are parsed, and missing mailboxes are skipped from then on", async () => {
    const inbound = async () =>
      (await service.api<{ results: Inbound[] }>("GET", `${E}/inbound/?page_size=100`)).results;
    const config = await service.configure({ port: relay.port });
    await service.api("PATCH", `${E}/smtp-configs/${config}/`, { bounce_address: "bounces@b.example" });
    const to = [...Object.keys(REFUSALS), FINE].map((email) => ({ email }));
    const id = await service.sendBy(config, to);
    expect(await service.finished(id)).toMatchObject({ status: "completed", sent_count: 6, failed_count: 0 });
    const isOver = (seen: Inbound[]) =>
      Object.keys(REFUSALS).every((one) => seen.some(({ recipient }) => recipient === one));
    const came = await service.until(inbound, isOver, 90_000);
    // Each was received once: the relay got its answers and repeated nothing.
    expect(came).toHaveLength(5);
    expect(Object.fromEntries(came.map(({ recipient, bounce_type }) => [recipient, bounce_type]))).toEqual({
      "unknown@to.example": "hard",
      "full@to.example": "soft",
      "large@to.example": "soft",
      "content@to.example": "block",
      "away@to.example": "soft",
    });
    expect(await service.counts(id)).toEqual({ sent: 1, bounced: 5 });
    expect(await service.suppressions()).toBe(1);

    const second = await service.sendBy(config, [{ email: "unknown@to.example" }, { email: FINE }]);
    await service.finished(second);
    const mails = await service.sentEmails(second);
    expect(mails.find(({ recipient }) => recipient === "unknown@to.example")?.status ?? "left out").not.toBe("sent");
  });
});
