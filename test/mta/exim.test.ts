/** Exim: limits per host and connection, terse refusals without enhanced codes, rate limits. */
import { selfMadeCertificate } from "../support/certificate.ts";
import { linesOf, type MailServer } from "../support/mta/daemon.ts";
import { ALL_ARRIVED, tally } from "../support/mta/deliveries.ts";
import { type EximOptions, startExim } from "../support/mta/exim.ts";
import { addresses, type MailService, openService, people, type Receiver } from "../support/mta/service.ts";
import { trusted } from "../support/mta/trusted.ts";

jest.setTimeout(180_000);

const SMTPS = 465;
const certificate = selfMadeCertificate();
const ca = trusted(certificate);

let service: MailService;
let server: MailServer;

beforeAll(async () => {
  service = await openService({ NODE_EXTRA_CA_CERTS: ca.path });
});
afterAll(async () => {
  await service?.stop();
  ca.remove();
});
afterEach(() => server?.stop());

const start = async (options: EximOptions = {}) => {
  server = await startExim(options);
  return server;
};

async function outcome(id: string, to: readonly Receiver[], timeoutMs?: number) {
  const campaign = await service.finished(id, timeoutMs);
  const arrived = await service.settled(server.deliveries);
  return { campaign, states: await service.counts(id), ...tally(arrived, addresses(to)) };
}

const everybody = (n: number) => ({
  ...ALL_ARRIVED,
  arrived: n,
  states: { sent: n },
  campaign: { status: "completed", sent_count: n, failed_count: 0, error: null },
});

test("everybody gets one mail over plain SMTP, with CHUNKING offered", async () => {
  const { port, log } = await start({ main: ["chunking_advertise_hosts = *"] });
  const to = people(100);
  expect(await outcome(await service.send({ port, max_connections: 5 }, to), to)).toMatchObject(everybody(100));
  expect(linesOf(log(), /synchronization error|protocol error|syntax or protocol/)).toEqual([]);
});

test("all mail arrives with three connections per host on port 465, where the fourth gets a plain 421 instead of a handshake", async () => {
  const { port } = await start({
    port: SMTPS,
    certificate,
    implicit: true,
    main: ["smtp_accept_max_per_host = 3", "smtp_accept_max = 100"],
  });
  const to = people(200);
  const id = await service.send({ port, use_tls: true, max_connections: 10 }, to);
  expect(await outcome(id, to, 90_000)).toMatchObject(everybody(200));
});

test("a server that takes ten mails per connection, with twenty configured, gets the others over a new connection", async () => {
  const { port } = await start({ main: ["smtp_accept_max_per_connection = 10"] });
  const to = people(100);
  expect(await outcome(await service.send({ port, max_connections: 2 }, to), to)).toMatchObject(everybody(100));
});

test("`550 Administrative prohibition` for everybody suppresses nobody, and the campaign stops after 20", async () => {
  const { port } = await start({ rcpt: ["deny"] });
  const before = await service.suppressions();
  const to = people(60);
  const id = await service.send({ port, max_connections: 1 }, to);
  const { campaign, arrived } = await outcome(id, to);
  expect({ arrived, suppressed: (await service.suppressions()) - before }).toEqual({ arrived: 0, suppressed: 0 });
  expect(campaign.error).toMatch(/Administrative prohibition/);
  const tried = (await service.sentEmails(id)).filter(({ smtp_response: said }) => said?.includes("Administrative"));
  expect(tried.length).toBeGreaterThanOrEqual(20);
  expect(tried.length).toBeLessThanOrEqual(30);
  expect(linesOf(server.log(), /rejected RCPT/).length).toBeLessThanOrEqual(30);
});

test.each([
  "sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)",
  "Domain sender.example has exceeded the max emails per hour",
  "Daily message limit reached",
  "Service unavailable",
  "No reverse DNS",
  "Email address is not verified",
])("`550 %s` at RCPT is a block and suppresses nobody", async (text) => {
  const { port } = await start({ rcpt: ["deny", `  message = ${text}`] });
  const before = await service.suppressions();
  const id = await service.send({ port }, people(3));
  await service.finished(id);
  expect({ states: await service.counts(id), suppressed: (await service.suppressions()) - before }).toEqual({
    states: { failed: 3 },
    suppressed: 0,
  });
});

test("`550 No such user here` and `Unknown user` suppress dead mailboxes", async () => {
  const { port } = await start({
    rcpt: [
      "deny local_parts = ^dead1",
      "  message = No such user here",
      "deny local_parts = ^dead2",
      "  message = Unknown user",
    ],
  });
  const before = await service.suppressions();
  const to = people(5).concat(people(2, "dead"));
  const id = await service.send({ port }, to);
  const { campaign, states, arrived } = await outcome(id, to);
  expect({ states, arrived, suppressed: (await service.suppressions()) - before }).toEqual({
    states: { sent: 5, bounced: 2 },
    arrived: 5,
    suppressed: 2,
  });
  expect(campaign).toMatchObject({ status: "partial", sent_count: 5, failed_count: 2 });
});

test("a ratelimit ACL that defers at MAIL (20 mails in 5 seconds) delays 60 mails, which all arrive, with no more than two refusals for each", async () => {
  const limit = [
    "defer",
    "  ratelimit = 20 / 5s / strict / per_cmd / $sender_host_address",
    "  message = Rate limit, slow down",
  ];
  const { port, log } = await start({ mail: limit });
  const to = people(60);
  expect(await outcome(await service.send({ port }, to), to, 120_000)).toMatchObject(everybody(60));
  expect(linesOf(log(), /temporarily rejected MAIL/).length).toBeLessThanOrEqual(120);
});
