/** Suppressions and stops while a slow server is sending: no envelope starts more than 2 s later. */
import { query } from "../../../models/database/db.ts";
import { useSending } from "../../support/sending.ts";
import type { SmtpServer } from "../../support/smtp-server.ts";

const sending = useSending();

const MAX_LATE_MS = 2_000;
const SLOW_MS = 400;

let companyId: string;
let server: SmtpServer;
/** Wall-clock time at which the server answered MAIL for a recipient. */
let begun: Map<string, number>;

async function slowCampaign(
  options: { transactional?: boolean; recipients?: number; maxConnections?: number; quick?: number } = {},
) {
  const { quick = 0 } = options;
  const mine = new Map<string, number>();
  begun = mine;
  let mailAt = 0;
  server = await sending.startServer({
    answer: ({ verb, to, accepted }) => {
      // Quick at first: many emails are prepared, and then wait.
      if (verb === "DOT" && accepted >= quick) return { reply: "250 2.0.0 Ok", delayMs: SLOW_MS };
      if (verb === "MAIL") mailAt = Date.now();
      if (verb === "RCPT") mine.set(to, mailAt);
      return undefined;
    },
  });
  companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server, { maxConnections: options.maxConnections ?? 1 });
  const { transactional = false, recipients = 20 } = options;
  return sending.campaign({ companyId, smtpConfigId, recipients, transactional });
}

const lateOnes = (since: number) => [...begun].filter(([, at]) => at > since + MAX_LATE_MS).map(([to]) => to);
const sleep = (ms: number) => new Promise((done) => setTimeout(done, ms));

test.each([
  [
    "an address",
    "insert into suppressions (company_id, email) select c.company_id, e.email from campaigns c join sent_emails e on e.campaign_no = c.no where c.id = $1",
  ],
  [
    "a domain",
    "insert into suppressions (company_id, domain) select company_id, 'to.example' from campaigns where id = $1",
  ],
])("%s that is suppressed gets no mail", async (_what, suppress) => {
  const id = await slowCampaign({ quick: 100, recipients: 140 });
  sending.engine();
  await server.received(101);
  await query(suppress, [id]);
  const since = Date.now();
  const counts = await sending.finished(id);
  expect(counts.sent_count).toBeGreaterThanOrEqual(101);
  expect(counts.sent_count + counts.failed_count).toBe(140);
  expect(lateOnes(since)).toEqual([]);
  const states = await sending.states(id);
  expect(states.suppressed).toBe(140 - counts.sent_count);
  expect(states.suppressed).toBeGreaterThan(30);
  expect(server.accepted).toBe(counts.sent_count);
  await sending.until(
    async () => sending.engines[0]!.budget.held,
    (held) => held === 0,
  );
});

test("an unsubscribe stops the mail; transactional mail is still sent", async () => {
  const news = await slowCampaign();
  const [newsServer, newsBegun] = [server, begun];
  const receipts = await slowCampaign({ transactional: true, recipients: 10 });
  sending.engine();
  await newsServer.received(3);
  await server.received(3);
  for (const id of [news, receipts]) {
    await query(
      `insert into suppressions (company_id, email, kind)
       select c.company_id, e.email, 'unsubscribed' from campaigns c join sent_emails e on e.campaign_no = c.no where c.id = $1`,
      [id],
    );
  }
  const since = Date.now();
  expect((await sending.finished(news)).failed_count).toBeGreaterThan(10);
  expect(await sending.finished(receipts)).toMatchObject({ status: "completed", sent_count: 10 });
  begun = newsBegun;
  expect(lateOnes(since)).toEqual([]);
});

test.each([
  ["a campaign that gets an error", "update campaigns set error = 'Stopped by a person' where id = $1"],
  [
    "a company that is paused",
    "update companies set sending_paused_at = now() where id = (select company_id from campaigns where id = $1)",
  ],
])("%s", async (_what, stop) => {
  const id = await slowCampaign({ maxConnections: 3, recipients: 60 });
  const other = await slowCampaign({ recipients: 15 });
  const otherServer = server;
  const engine = sending.engine();
  await otherServer.received(3);
  await query(stop, [other]);
  const since = Date.now();
  await sleep(MAX_LATE_MS + 2 * SLOW_MS + 500);
  expect(lateOnes(since)).toEqual([]);
  // Emails not handed over are back: nobody is in doubt, and no lease is held.
  expect(
    await query("select from send_chunks where campaign_id = $1 and owner is not null and state = 1", [other]),
  ).toEqual([]);
  const { sent, unknown } = await sending.states(other);
  expect({ sent, unknown }).toEqual({ sent: otherServer.accepted, unknown: undefined });
  expect([...engine.servers.batches()].map(({ campaign }) => campaign.campaign_id)).not.toContain(other);
  // The neighbour is not held up.
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 60 });
});

test("a paused company stops sending, also at a fast server", async () => {
  server = await sending.startServer({ delayMs: { DOT: 10 } });
  companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server, { maxConnections: 1 });
  await sending.campaign({ companyId, smtpConfigId, recipients: 2_000, chunk: 2_000 });
  sending.engine();
  await server.received(20);
  await query("update companies set sending_paused_at = now() where id = $1", [companyId]);
  await sleep(MAX_LATE_MS);
  const accepted = server.accepted;
  await sleep(300);
  expect(server.accepted).toBe(accepted);
});

const SUPPRESS_ALL = `insert into suppressions (company_id, email, kind)
  select c.company_id, e.email, $2 from campaigns c join sent_emails e on e.campaign_no = c.no where c.id = $1`;

const ENDS = {
  stop: (id: string) => query("update campaigns set error = 'Stopped by a person' where id = $1", [id]),
  pause: (id: string) =>
    query(
      "update companies set sending_paused_at = now() where id = (select company_id from campaigns where id = $1)",
      [id],
    ),
  suppression: (id: string) => query(SUPPRESS_ALL, [id, "manual"]),
  unsubscription: (id: string) => query(SUPPRESS_ALL, [id, "unsubscribed"]),
};

/** Longer than an email may begin late. */
const VERY_SLOW_MS = 3_500;
const VERY_SLOW_MAILS = 8;

/**
 * A campaign whose server accepts `quick` emails at once, and takes seconds for each of the others until it is `cured`.
 */
async function verySlowCampaign(what: keyof typeof ENDS, quick: number) {
  const lateBegun: string[] = [];
  let since = Number.POSITIVE_INFINITY;
  let cured = false;
  let holds = () => {};
  const held = new Promise<void>((done) => {
    holds = done;
  });
  const ownServer = await sending.startServer({
    answer: ({ verb, to, accepted }) => {
      if (verb === "RCPT" && Date.now() > since + MAX_LATE_MS && !cured) lateBegun.push(to);
      if (verb !== "DOT" || accepted < quick || cured) return undefined;
      holds();
      return { reply: "250 2.0.0 Ok", delayMs: VERY_SLOW_MS };
    },
  });
  const own = await sending.company("whole campaign");
  const smtpConfigId = await sending.smtpConfig(own, ownServer, { maxConnections: 1 });
  const id = await sending.campaign({ companyId: own, smtpConfigId, recipients: VERY_SLOW_MAILS });
  const end = async () => {
    await held;
    await ENDS[what](id);
    since = Date.now();
    await sending.until(
      async () => ownServer.accepted,
      (n) => n > quick,
    );
    await sleep(500);
    cured = true;
  };
  const resume = () =>
    query("update companies set sending_paused_at = null where id = $1", [own]).then(() => sending.finished(id));
  return { what, id, server: ownServer, lateBegun, end, resume };
}

test.each([
  ["that is slow from the first mail", 0],
  ["that turns slow", 4],
])("a server %s has its waiting mail withdrawn, and nobody is in doubt", async (_what, quick) => {
  await query("insert into plans (name, smtp_per_hour) values ('whole campaign', $1) on conflict do nothing", [
    VERY_SLOW_MAILS,
  ]);
  const kinds = Object.keys(ENDS) as (keyof typeof ENDS)[];
  const campaigns = await Promise.all(kinds.map((what) => verySlowCampaign(what, quick)));
  const engine = sending.engine({ leaseMs: 20_000 });
  await Promise.all(campaigns.map(({ end }) => end()));
  for (const { what, id, server: itsServer, lateBegun } of campaigns) {
    expect([what, itsServer.accepted]).toEqual([what, quick + 1]);
    // A pipelined envelope cannot be withdrawn if the server becomes slow at the message before it.
    expect(lateBegun.length).toBeLessThanOrEqual(quick > 0 ? 1 : 0);
    const unsent = VERY_SLOW_MAILS - quick - 1;
    const after = { stop: "failed", pause: "queued", suppression: "suppressed", unsubscription: "suppressed" };
    if (what !== "pause") await sending.finished(id);
    expect([what, await sending.states(id)]).toEqual([what, { sent: quick + 1, [after[what]]: unsent }]);
  }
  // The hour of the company has room for each email once.
  const paused = campaigns.find(({ what }) => what === "pause")!;
  expect(await paused.resume()).toMatchObject({ status: "completed", sent_count: VERY_SLOW_MAILS });
  expect([paused.server.accepted, paused.server.doubled]).toEqual([VERY_SLOW_MAILS, []]);
  await sending.until(
    async () => engine.budget.held,
    (n) => n === 0,
  );
});

/**
 * Slows the process's monotonic clock by a factor of a hundred, so that seconds of waiting on a busy machine do not
 * count as long.
 */
function slowClock() {
  const now = performance.now.bind(performance);
  const fromMs = now();
  return jest.spyOn(performance, "now").mockImplementation(() => fromMs + (now() - fromMs) / 100);
}

test("emails of a fast server are not checked again", async () => {
  server = await sending.startServer();
  companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server, { maxConnections: 4 });
  const id = await sending.campaign({ companyId, smtpConfigId, recipients: 3_000 });
  const engine = sending.engine();
  const clock = slowClock();
  const checks = jest.spyOn(
    (await import("../../../services/smtp-sender/engine/pinned-connection.ts")).PinnedConnection.prototype,
    "run",
  );
  try {
    await sending.finished(id);
    const names = checks.mock.calls.map(([name]) => name);
    expect(names.filter((name) => name === "recipients").length).toBeGreaterThan(3);
    expect(names.filter((name) => name === "recheck")).toEqual([]);
  } finally {
    checks.mockRestore();
    clock.mockRestore();
  }
  expect(engine.counts.sent).toBe(3_000);
});
