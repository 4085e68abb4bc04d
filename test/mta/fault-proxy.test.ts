/**
 * Broken networks: a real Postfix behind a proxy that resets connections at each stage, swallows answers and tampers
 * with STARTTLS. Mails that were certainly not accepted are sent again; only those that may have been accepted are
 * unknown.
 */
import { selfMadeCertificate } from "../support/certificate.ts";
import { linesOf, type MailServer } from "../support/mta/daemon.ts";
import { ALL_ARRIVED, tally } from "../support/mta/deliveries.ts";
import { type Fault, type FaultProxy, startFaultProxy } from "../support/mta/fault-proxy.ts";
import { startPostfix } from "../support/mta/postfix.ts";
import type { Random } from "../support/mta/random.ts";
import { addresses, type MailService, openService, people, type Receiver } from "../support/mta/service.ts";
import { trusted } from "../support/mta/trusted.ts";

jest.setTimeout(120_000);

const SEED = Number(process.env.SEED ?? 20_261_122);
const ca = trusted(selfMadeCertificate());

let service: MailService;
let server: MailServer;
let proxy: FaultProxy;

beforeAll(async () => {
  [service, server] = await Promise.all([
    openService({ NODE_EXTRA_CA_CERTS: ca.path }),
    startPostfix({
      main: {
        smtpd_tls_security_level: "may",
        smtpd_tls_chain_files: ca.chain,
        smtpd_tls_loglevel: "1",
        smtpd_client_connection_count_limit: "0",
        smtpd_client_event_limit_exceptions: "",
      },
    }),
  ]);
});
afterAll(async () => {
  await service?.stop();
  await server?.stop();
  ca.remove();
});
afterEach(() => proxy?.stop());

/** A campaign through the proxy, and the states of its recipients. */
async function over(
  decide: (connection: number, random: Random) => Fault | undefined,
  { n = 60, tls = false, connections = 3, transactional = false } = {},
) {
  process.stdout.write(`fault proxy: SEED=${SEED}\n`);
  proxy = await startFaultProxy(server, SEED, decide);
  const to: Receiver[] = people(n);
  const wanted = new Set(addresses(to));
  const endpoint = { port: proxy.port, use_tls: tls, max_connections: connections };
  const id = await service.send(endpoint, to, { transactional });
  const campaign = await service.finished(id, 60_000);
  const arrived = await service.settled(() => server.deliveries().filter((one) => wanted.has(one.to)));
  return { id, campaign, states: await service.counts(id), ...tally(arrived, wanted) };
}

const everybody = (n: number) => ({
  ...ALL_ARRIVED,
  arrived: n,
  states: { sent: n },
  campaign: { status: "completed", sent_count: n, failed_count: 0, error: null },
});

/** The first connection, and a third of the following ones. */
const often =
  (fault: (random: Random) => Fault) =>
  (connection: number, random: Random): Fault | undefined =>
    connection === 1 || random.chance(1 / 3) ? fault(random) : undefined;

test.each<[string, boolean, (random: Random) => Fault]>([
  ["at connect", false, () => ({ resetAfterServerBytes: 0 })],
  ["in the greeting", false, (random) => ({ resetAfterServerBytes: 1 + random.below(20) })],
  ["at EHLO", false, () => ({ resetAtClientText: { text: /^EHLO/, forward: false } })],
  ["at STARTTLS", true, () => ({ resetAtClientText: { text: /^STARTTLS/, forward: true } })],
  // Greeting, EHLO answer and 220 have about 250 bytes.
  ["in the TLS handshake", true, (random) => ({ resetAfterServerBytes: 300 + random.below(500) })],
  ["at the first TLS byte", true, () => ({ resetAtClientText: { text: /^\x16\x03/, forward: false } })],
  ["by a close at STARTTLS", true, () => ({ resetAtClientText: { text: /^STARTTLS/, forward: false }, closes: true })],
  [
    "by a close at the first TLS byte",
    true,
    () => ({ resetAtClientText: { text: /^\x16\x03/, forward: false }, closes: true }),
  ],
  [
    "by a close in the TLS handshake",
    true,
    (random) => ({ resetAfterServerBytes: 300 + random.below(500), closes: true }),
  ],
  ["at the first MAIL", false, () => ({ resetAtClientText: { text: /^MAIL/, forward: false } })],
])("a reset %s loses no mail, sends none twice and leaves none unknown", async (_stage, tls, fault) => {
  expect(await over(often(fault), { tls })).toMatchObject(everybody(60));
  expect(proxy.struck).toBeGreaterThan(0);
});

test.each([false, true])(
  "one broken handshake (closed: %s) beside working connections loses no mail",
  async (closes) => {
    const second = (connection: number): Fault | undefined =>
      connection === 2 ? { resetAtClientText: { text: /^\x16\x03/, forward: false }, closes } : undefined;
    expect(await over(second, { n: 300, tls: true, connections: 5 })).toMatchObject(everybody(300));
  },
);

test("a reset in the middle of a message leaves completely written mails unknown; all others arrive, nobody gets two", async () => {
  const { id, campaign, states, lost, doubled, blank } = await over(
    often((random) => ({ resetAfterClientBytes: 300 + random.below(8_000) })),
  );
  expect(proxy.struck).toBeGreaterThan(0);
  expect({ doubled, blank }).toEqual({ doubled: [], blank: [] });
  expect((states.sent ?? 0) + (states.unknown ?? 0)).toBe(60);
  expect(states.unknown ?? 0).toBeLessThanOrEqual(proxy.struck);
  const unknown = (await service.sentEmails(id)).filter(({ status }) => status === "unknown");
  expect(unknown.map(({ recipient }) => recipient)).toEqual(
    expect.arrayContaining(lost.filter((to) => to.includes("@"))),
  );
  expect(campaign.sent_count).toBe(states.sent);
});

test("a swallowed answer to the final dot leaves those mails unknown that arrived, and no others", async () => {
  const { states, campaign, ...arrived } = await over(
    often(() => ({ swallowDot: true })),
    { connections: 2 },
  );
  expect(arrived).toMatchObject({ ...ALL_ARRIVED, arrived: 60 });
  expect(proxy.struck).toBeGreaterThan(0);
  expect(states).toEqual({ sent: 60 - proxy.struck, unknown: proxy.struck });
  expect(campaign.sent_count).toBe(60 - proxy.struck);
});

test("a swallowed answer for transactional mail causes it to be sent again, so that nobody is without it", async () => {
  const { states, lost, blank, doubled } = await over(
    often(() => ({ swallowDot: true })),
    {
      n: 20,
      connections: 1,
      transactional: true,
    },
  );
  expect({ states, lost, blank }).toEqual({ states: { sent: 20 }, lost: [], blank: [] });
  expect(doubled).not.toEqual([]);
});

test.each([false, true])("answers that arrive byte by byte (TLS: %s) lose no mail", async (tls) => {
  expect(await over(() => ({ byteByByte: true }), { tls })).toMatchObject(everybody(60));
});

test("stripped STARTTLS sends nothing in plain text, and the campaign gives the reason", async () => {
  const strip = (text: string) =>
    text.replace("250-STARTTLS\r\n", "").replace(/^220 2\.0\.0 Ready.*$/m, "502 5.5.2 Error: command not recognized");
  const { arrived, campaign } = await over(() => ({ rewrite: strip }), { n: 10, tls: true });
  expect(arrived).toBe(0);
  expect(campaign.error).toMatch(/TLS/);
});

test("plain text injected behind the answer to STARTTLS is not believed", async () => {
  // Taken as the second EHLO's answer, it would make every message too large.
  const inject = (text: string) => text.replace(/^(220 2\.0\.0 Ready to start TLS\r\n)/, "$1250-mx\r\n250 SIZE 10\r\n");
  const first = (connection: number): Fault | undefined => (connection === 1 ? { rewrite: inject } : undefined);
  expect(await over(first, { n: 20, tls: true })).toMatchObject(everybody(20));
  expect(proxy.struck).toBe(1);
});

test("a login is never sent before TLS is established", async () => {
  const log = server.log();
  const strip = (text: string) => text.replace("250-STARTTLS\r\n", "250-AUTH PLAIN LOGIN\r\n");
  proxy = await startFaultProxy(server, SEED, () => ({ rewrite: strip }));
  const endpoint = { port: proxy.port, use_tls: true, username: "ann", password: "secret" };
  await service.finished(await service.send(endpoint, people(1)), 5_000);
  expect(linesOf(server.log().slice(log.length), /auth=/)).toEqual([]);
});
