/** Postfix with restrictions that operators use: temporarily refused mail must arrive exactly once. */
import { linesOf, type MailServer } from "../support/mta/daemon.ts";
import { ALL_ARRIVED, tally } from "../support/mta/deliveries.ts";
import { startPolicy } from "../support/mta/policy.ts";
import { type PostfixOptions, startPostfix } from "../support/mta/postfix.ts";
import { addresses, type MailService, openService, people, type Receiver } from "../support/mta/service.ts";

jest.setTimeout(180_000);

let service: MailService;
let server: MailServer;

beforeAll(async () => {
  service = await openService();
});
afterAll(() => service?.stop());
afterEach(() => server?.stop());

const start = async (options: PostfixOptions = {}) => {
  server = await startPostfix(options);
  return server;
};

/** A campaign's result according to the API and the maildirs. */
async function outcome(id: string, to: readonly Receiver[], timeoutMs?: number) {
  const campaign = await service.finished(id, timeoutMs);
  const arrived = await service.settled(server.deliveries);
  return { campaign, states: await service.counts(id), ...tally(arrived, addresses(to)) };
}

/** Tries beyond the one that each recipient needs. */
const triesSpent = async (id: string) =>
  (await service.sentEmails(id)).reduce((sum, { attempts }) => sum + Math.max(0, attempts - 1), 0);

const everybody = (n: number, copies = 0) => ({
  ...ALL_ARRIVED,
  arrived: n + copies,
  states: { sent: n },
  campaign: { status: "completed", sent_count: n, failed_count: 0, error: null },
});

test("mails that a policy defers (one in four, at the end of data) wait, and nobody gets a blank mail", async () => {
  const policy = await startPolicy((_attributes, no) => (no % 4 === 0 ? "451 4.7.1 Try again later" : "DUNNO"));
  const { port, log } = await start({ main: { smtpd_end_of_data_restrictions: policy.check } });
  const to = people(200);
  const result = await outcome(await service.send({ port, max_connections: 1 }, to), to);
  await policy.stop();
  expect(result).toMatchObject(everybody(200));
  expect(linesOf(log(), /nested MAIL command/)).toEqual([]);
});

test("mails that a policy refuses permanently (one in ten, at the end of data) fail, and no others", async () => {
  const isBad = (sender: string, no: number) => sender !== "" && no % 10 === 0;
  const policy = await startPolicy(({ sender = "" }, no) => (isBad(sender, no) ? "550 5.6.0 Bad content" : "DUNNO"));
  const { port, log } = await start({ main: { smtpd_end_of_data_restrictions: policy.check } });
  const to = people(100);
  const { campaign, states, arrived, doubled, blank } = await outcome(
    await service.send({ port, max_connections: 1 }, to),
    to,
  );
  await policy.stop();
  expect({ arrived, doubled, blank, states }).toEqual({
    arrived: 90,
    doubled: [],
    blank: [],
    states: { sent: 90, failed: 10 },
  });
  expect(campaign).toMatchObject({ status: "partial", sent_count: 90, failed_count: 10 });
  expect(linesOf(log(), /nested MAIL command/)).toEqual([]);
});

test("every copy arrives with five copies each and at most two recipients per mail", async () => {
  const { port } = await start({ main: { smtpd_recipient_limit: "2" } });
  const to = people(4).map(({ email }) => ({
    email,
    cc: [1, 2, 3, 4, 5].map((n) => `copy${n}-${email.split("@")[0]}@to.example`),
  }));
  const id = await service.send({ port }, to);
  await service.finished(id);
  await service.until(server.deliveries, ({ length }) => length >= 24, 20_000).catch(() => []);
  expect(await outcome(id, to)).toMatchObject(everybody(4, 20));
});

test("a copy that needs SMTPUTF8, which is not offered, fails by name, and the others arrive", async () => {
  const { port } = await start({ main: { smtputf8_enable: "no" } });
  const cc = ["plain1@to.example", "jörg@to.example", "plain2@to.example"];
  const id = await service.send({ port }, [{ email: "r1@to.example", cc }]);
  const { lost, doubled, blank } = await outcome(id, [{ email: "r1@to.example", cc }]);
  expect({ lost, doubled, blank }).toEqual({ lost: ["jörg@to.example"], doubled: [], blank: [] });
  const [mail] = await service.sentEmails(id);
  expect(mail!.copies?.map(({ email, status }) => [email, status])).toEqual([
    ["plain1@to.example", "sent"],
    ["jörg@to.example", "failed"],
    ["plain2@to.example", "sent"],
  ]);
});

test("100 mails arrive where 20 in 5 seconds are allowed (anvil), with no more than two refusals for each", async () => {
  const { port, log } = await start({
    main: {
      smtpd_client_message_rate_limit: "20",
      anvil_rate_time_unit: "5s",
      smtpd_client_event_limit_exceptions: "",
    },
  });
  const to = people(100);
  const id = await service.send({ port }, to);
  expect(await outcome(id, to, 120_000)).toMatchObject(everybody(100));
  expect(linesOf(log(), /Message delivery request rate limit exceeded/).length).toBeLessThanOrEqual(200);
  expect(await triesSpent(id)).toBe(0);
});

test("all mails arrive with ten connections configured where two from one client are allowed (anvil), and the others are not tried for ever", async () => {
  const { port, log } = await start({
    main: { smtpd_client_connection_count_limit: "2", smtpd_client_event_limit_exceptions: "" },
  });
  const to = people(400);
  expect(await outcome(await service.send({ port, max_connections: 10 }, to), to)).toMatchObject(everybody(400));
  expect(linesOf(log(), /Connection concurrency limit exceeded/).length).toBeLessThanOrEqual(40);
});

test("pauses grow while MAIL is refused for 12 seconds, no recipient uses up an attempt, then all arrive", async () => {
  const begin = Date.now();
  const policy = await startPolicy(() => (Date.now() - begin < 12_000 ? "450 4.7.1 Not now" : "DUNNO"));
  const { port } = await start({ main: { smtpd_sender_restrictions: policy.check, smtpd_delay_reject: "no" } });
  const to = people(50);
  const id = await service.send({ port, max_connections: 5 }, to);
  await service.until(
    () => Date.now() - begin,
    (ms) => ms > 12_000,
    20_000,
  );
  const refusals = policy.asked;
  const result = await outcome(id, to);
  await policy.stop();
  expect(result).toMatchObject(everybody(50));
  expect(await triesSpent(id)).toBe(0);
  // Five connections get it at once, then one probe after 1, 2, 4 and 8 seconds.
  expect(refusals).toBeLessThanOrEqual(15);
});

test("postscreen only examines the first connection (450 at RCPT), and later ones deliver", async () => {
  const { port, log } = await start({
    postscreen: true,
    main: {
      postscreen_access_list: "",
      postscreen_greet_action: "enforce",
      postscreen_greet_wait: "2s",
      postscreen_pipelining_enable: "yes",
      postscreen_pipelining_action: "enforce",
      postscreen_non_smtp_command_enable: "yes",
      postscreen_bare_newline_enable: "yes",
    },
  });
  const to = people(100);
  expect(await outcome(await service.send({ port, max_connections: 3 }, to), to)).toMatchObject(everybody(100));
  expect(linesOf(log(), /PREGREET|COMMAND PIPELINING|BARE NEWLINE|NON-SMTP COMMAND/)).toEqual([]);
  expect(linesOf(log(), /NOQUEUE: reject: RCPT/).length).toBeGreaterThan(0);
});

test("no mail to a person suppressed during a slow campaign begins later than 2 seconds after", async () => {
  const begun = new Map<string, number>();
  const policy = await startPolicy(({ recipient = "" }) => {
    begun.set(recipient, Date.now());
    return "DUNNO";
  });
  const { port } = await start({
    main: {
      smtpd_recipient_restrictions: `${policy.check}, permit_mynetworks`,
      smtpd_end_of_data_restrictions: "sleep 1",
    },
  });
  const to = people(20);
  const id = await service.send({ port, max_connections: 1 }, to);
  await service.until(
    () => begun.size,
    (n) => n >= 3,
    20_000,
  );
  const later = addresses(to).filter((address) => !begun.has(address));
  for (const email of later) await service.api("POST", "/api/emails/suppressions/", { email });
  const stood = Date.now();
  await service.finished(id);
  await policy.stop();
  const late = later.filter((address) => (begun.get(address) ?? 0) > stood + 2_000);
  expect({ late }).toEqual({ late: [] });
  expect(tally(await service.settled(server.deliveries), addresses(to))).toMatchObject({ doubled: [], blank: [] });
});
