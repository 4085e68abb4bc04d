/** The guard stops a campaign with too many hard bounces. Counted at the server. */
import { query, queryOne } from "../../../models/database/db.ts";
import { resume } from "../../../services/campaigns/lifecycle/resume.ts";
import type { Ctx } from "../../../services/lib/caller.ts";
import { useSending } from "../../support/sending.ts";
import type { SmtpServer } from "../../support/smtp-server.ts";

const sending = useSending();

const NOT_THERE = "550 5.1.1 User unknown";
let server: SmtpServer;
let companyId: string;

/** Addresses of the form r1@to.example, in the order of their numbers. */
const numberOf = (address: string) => Number(/^r(\d+)@/.exec(address)![1]);

/**
 * The server is slow: a few emails are sent between the threshold and the stop, but never all, even if it takes
 * seconds.
 */
const SLOW_MS = 50;
let acceptedAfterMs: number;
beforeEach(() => {
  acceptedAfterMs = SLOW_MS;
});

async function campaign(recipients: number, isDead: (n: number) => boolean, guard: object = {}) {
  server = await sending.startServer({
    answer: ({ verb, to }) => {
      if (verb === "DOT") return { reply: "250 2.0.0 Ok", delayMs: acceptedAfterMs };
      if (verb !== "RCPT" || !isDead(numberOf(to))) return undefined;
      return { reply: NOT_THERE, delayMs: acceptedAfterMs === 0 ? 0 : SLOW_MS };
    },
  });
  companyId = await sending.company();
  await query("update companies set guard = $2 where id = $1", [companyId, guard]);
  const smtpConfigId = await sending.smtpConfig(companyId, server, { maxConnections: 1 });
  return sending.campaign({ companyId, smtpConfigId, recipients, chunk: 20 });
}

const auditOf = (id: string) =>
  query<{ actor_type: string; actor_name: string; action: string; detail: Record<string, unknown> }>(
    "select actor_type, actor_name, action, detail from audit_log where company_id = $1 and target = $2 order by id",
    [companyId, id],
  );
const resumed = (id: string) => resume({ meta: { companyId }, emit: async () => {} } as unknown as Ctx, id);

test("a campaign over its share of hard bounces stops, and gives the reason; everybody is accounted for", async () => {
  const id = await campaign(1_000, (n) => n % 5 === 0, { after: 50 });
  sending.engine({ maxInDoubt: 20 });
  const ended = await sending.finished(id);
  expect(ended).toMatchObject({
    status: "partial",
    total_emails: 1_000,
    error: expect.stringMatching(
      /^Stopped by the guard: \d+ of \d+ mails bounced for good \([\d.]+ %, more than 10 %\)/,
    ),
  });
  expect(ended.sent_count).toBe(server.messages.length);
  expect(ended.sent_count + ended.failed_count).toBe(1_000);
  expect(ended.sent_count).toBeLessThan(600);
  const [hard, all] = ended.error!.match(/\d+/g)!.map(Number) as [number, number];
  expect(all).toBeGreaterThanOrEqual(50);
  expect(hard / all).toBeGreaterThan(0.1);
  expect(await auditOf(id)).toEqual([
    {
      actor_type: "system",
      actor_name: "system",
      action: "campaign.stopped",
      detail: { by: "guard", tried: all, hard_bounces: hard, complaints: 0 },
    },
  ]);
});

test("no campaign is stopped before the minimum number of attempts; then even an accepted mail may trigger the stop", async () => {
  const id = await campaign(400, (n) => n <= 20, { after: 100 });
  sending.engine({ maxInDoubt: 10 });
  const ended = await sending.finished(id);
  expect(ended).toMatchObject({ status: "partial", error: expect.stringContaining("20 of 1") });
  expect(ended.sent_count).toBeGreaterThanOrEqual(80);
  expect(ended.sent_count).toBeLessThan(380);
});

test("exactly the allowed share stops nothing, and the defaults are 10 percent after 200", async () => {
  acceptedAfterMs = 0;
  const id = await campaign(400, (n) => n > 360);
  sending.engine();
  expect(await sending.finished(id)).toMatchObject({ status: "partial", sent_count: 360, error: null });
  expect(await auditOf(id)).toEqual([]);
});

test("a campaign whose every email bounces can be resumed, too", async () => {
  const id = await campaign(300, () => true, { after: 30 });
  sending.engine({ maxInDoubt: 10 });
  expect(await sending.finished(id)).toMatchObject({ status: "partial", sent_count: 0, failed_count: 300 });
  await expect(resumed(id)).resolves.toMatchObject({ status: "pending" });
});

test("after a resume it continues, and only later bounces count", async () => {
  const id = await campaign(530, (n) => n <= 30 || n > 230, { after: 50 });
  sending.engine({ maxInDoubt: 10 });
  const first = await sending.finished(id);
  expect(first).toMatchObject({ status: "partial", error: expect.stringContaining("guard") });
  expect(first.sent_count).toBeLessThan(200);
  // A second engine: the first skips a campaign it has stopped for some seconds.
  await sending.stopEngines();
  await resumed(id);
  acceptedAfterMs = 2;
  sending.engine({ maxInDoubt: 10 });
  const second = await sending.finished(id);
  // The campaign has sent to the 200 valid addresses and reached the invalid ones behind them.
  expect(second.sent_count).toBe(200);
  expect(second).toMatchObject({ status: "partial", error: expect.stringContaining("guard") });
  const states = await sending.states(id);
  expect(states.bounced).toBeLessThan(330);
  expect(Object.values(states).reduce((sum, n) => sum + n, 0)).toBe(530);
  expect(await auditOf(id)).toMatchObject([
    { action: "campaign.stopped" },
    { action: "campaign.resumed" },
    { action: "campaign.stopped" },
  ]);
});

test("suppressed recipients were not tried, and a campaign without remaining recipients is not stopped", async () => {
  acceptedAfterMs = 0;
  const id = await campaign(120, (n) => n > 108, { after: 100, hard_bounce_percent: 5 });
  await query(
    `insert into suppressions (company_id, email) select $1, 'r' || n || '@to.example' from generate_series(1, 60) n`,
    [companyId],
  );
  sending.engine();
  expect(await sending.finished(id)).toMatchObject({
    status: "partial",
    sent_count: 48,
    failed_count: 72,
    error: null,
  });
  const counted = await queryOne("select hard_bounces, tried_unsent from campaigns where id = $1", [id]);
  expect(counted).toEqual({ hard_bounces: 12, tried_unsent: 12 });
});
