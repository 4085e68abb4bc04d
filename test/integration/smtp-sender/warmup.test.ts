/** Warm-up: emails per day, counted at the server. Days pass by making their row a day older. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { CAMPAIGN_COLUMNS } from "../../../models/campaign.ts";
import { query, queryOne } from "../../../models/database/db.ts";
import type { EngineSettings } from "../../../services/smtp-sender/engine/settings.ts";
import { giveOfDay, takeOfDay } from "../../../services/smtp-sender/limits/warmup-ledger.ts";
import { type Recipient, useSending } from "../../support/sending.ts";
import type { SmtpServer } from "../../support/smtp-server.ts";

const sending = useSending();

const NODE = join(import.meta.dirname, "../../support/sender-node.ts");
const ROOM_AGAIN_MS = 100;

let server: SmtpServer;
let companyId: string;
let smtpConfigId: string;
const processes = new Set<ChildProcess>();
afterEach(async () => {
  await Promise.all([...processes].map(kill));
});

/** A time zone where it is about noon: no day ends during a test. */
function noonZone(): string {
  const east = 12 - new Date().getUTCHours();
  return `Etc/GMT${east > 0 ? "-" : "+"}${Math.abs(east)}`;
}

async function warmedUp(warmup: object | null, options: Parameters<typeof sending.startServer>[0] = {}) {
  server = await sending.startServer(options);
  companyId = await sending.company();
  await query("update companies set timezone = $2 where id = $1", [companyId, noonZone()]);
  smtpConfigId = await sending.smtpConfig(companyId, server);
  await change(warmup);
}
const change = (warmup: object | null) =>
  query("update smtp_configs set warmup = $3, updated_at = now() where company_id = $1 and id = $2", [
    companyId,
    smtpConfigId,
    warmup,
  ]);
const campaign = (recipients: number | Recipient[], chunk = 30) =>
  sending.campaign({ companyId, smtpConfigId, recipients, chunk });

const engine = (settings: Partial<EngineSettings> = {}) => sending.engine({ hourRetryMs: ROOM_AGAIN_MS, ...settings });
const ledger = () =>
  queryOne<{ step: number; taken: number; full_until: Date | null }>(
    "select step, taken, full_until from warmup_ledgers where company_id = $1 and smtp_config_id = $2",
    [companyId, smtpConfigId],
  );
const errorOf = async (id: string) =>
  (await queryOne<{ error: string | null }>(`select ${CAMPAIGN_COLUMNS} from campaigns c where id = $1`, [id]))!.error;

const nextDay = () =>
  query(
    `update warmup_ledgers set day = day - 1, full_until = full_until - interval '1 day'
     where company_id = $1 and smtp_config_id = $2`,
    [companyId, smtpConfigId],
  );
/** Waits until mail is waiting and none is being sent. */
const dayIsFull = async (step: number, accepted = 0) => {
  await server.received(accepted);
  await sending.until(ledger, (row) => row?.step === step && row.full_until !== null);
  await nobodySends();
};
const nobodySends = () =>
  sending.until(
    async () => sending.engines.reduce((held, { budget }) => held + budget.held, 0),
    (held) => held === 0,
  );
const mails = () => server.messages.reduce((sum, { to }) => sum + to.length, 0);

test("a day's limit is the previous day's times the factor, up to the final number; waiting campaigns say so", async () => {
  await warmedUp({ start_per_day: 20, factor: 1.5, until_per_day: 50 });
  const id = await campaign(180);
  engine();
  for (const [n, accepted] of [20, 20 + 30, 50 + 45, 95 + 50].entries()) {
    const day = n + 1;
    await dayIsFull(day, accepted);
    expect(server.accepted).toBe(accepted);
    expect(await sending.counts(id)).toMatchObject({ status: "sending", failed_count: 0, error: null });
    expect(await errorOf(id)).toMatch(
      new RegExp(`^Waiting for warm-up: the \\d+ mails of its day ${day} have left\\.`),
    );
    await nextDay();
  }
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 180 });
  expect(await errorOf(id)).toBeNull();
});

test("days without mail do not count, and a day with unused capacity still sets the next one's limit", async () => {
  await warmedUp({ start_per_day: 10, factor: 3, until_per_day: 100 });
  const first = await campaign(4);
  engine();
  await sending.finished(first);
  for (let n = 0; n < 5; n++) await nextDay();
  const second = await campaign(60);
  await dayIsFull(2, 4 + 30);
  expect(server.accepted).toBe(4 + 30);
  expect(await errorOf(second)).toContain("day 2");
});

test("two senders at once send exactly the day's number together, over any number of campaigns", async () => {
  await warmedUp({ start_per_day: 70, factor: 2, until_per_day: 1_000 }, { delayMs: { DOT: 2 } });
  const ids = [await campaign(100, 10), await campaign(100, 10)];
  engine();
  engine();
  await dayIsFull(1, 70);
  expect(server.accepted).toBe(70);
  await nextDay();
  for (const id of ids) expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 100 });
  expect(server.doubled).toEqual([]);
});

test("twenty concurrent requests for 30 tokens get exactly the day's limit, and returned tokens are available again", async () => {
  await warmedUp({ start_per_day: 200, factor: 2, until_per_day: 1_000 });
  const of = { company_id: companyId, smtp_config_id: smtpConfigId };
  const grants = await Promise.all(Array.from({ length: 20 }, () => takeOfDay(of, 30)));
  expect(grants.reduce((sum, grant) => sum + grant!.granted, 0)).toBe(200);
  await giveOfDay(of, grants[0]!.day, 12);
  await giveOfDay(of, { ...grants[0]!.day, step: 0 }, 5);
  expect((await takeOfDay(of, 30))!.granted).toBe(12);
});

test("copies count as emails, also when retried individually", async () => {
  let isFirstDay = true;
  await warmedUp(
    { start_per_day: 9, factor: 1, until_per_day: 9 },
    {
      answer: ({ verb, to }) =>
        verb === "RCPT" && isFirstDay && to.startsWith("late") ? "450 4.2.1 Later" : undefined,
    },
  );
  const list = Array.from({ length: 6 }, (_, n) => ({
    email: `r${n}@example.com`,
    cc: [`c${n}@example.com`],
    bcc: [`late${n}@example.com`],
  }));
  const id = await campaign(list);
  engine({ retryBaseMs: 50 });
  const byDay: number[] = [];
  while (mails() < 18) {
    const before = byDay.reduce((sum, n) => sum + n, 0);
    await sending.until(
      async () => mails() === 18 || (await ledger())?.full_until != null,
      (isOver) => isOver,
    );
    await nobodySends();
    byDay.push(mails() - before);
    isFirstDay = false;
    await nextDay();
  }
  expect(byDay[0]).toBe(6);
  expect(Math.max(...byDay)).toBeLessThanOrEqual(9);
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 6 });
});

test("refused or deferred emails return their tokens; without warm-up the rest is sent at once", async () => {
  await warmedUp(
    { start_per_day: 10, factor: 2, until_per_day: 10 },
    { answer: ({ verb, to }) => (verb === "RCPT" && /^r[1-5]@/.test(to) ? "550 5.7.1 Not you" : undefined) },
  );
  const id = await campaign(60);
  const sender = engine({ hourRetryMs: 60_000 });
  await sending.until(
    async () => server.accepted,
    (n) => n > 0,
  );
  await sending.until(ledger, (row) => row?.full_until != null);
  expect(server.accepted).toBeLessThanOrEqual(10);
  await change(null);
  // This is the event of the change; without it the pause ends on its own later.
  await sender.configChanged(smtpConfigId);
  expect(await sending.finished(id)).toMatchObject({ sent_count: 55, failed_count: 5 });
});

test("nothing is sent in the last seconds of a day", async () => {
  await warmedUp({ start_per_day: 10, factor: 2, until_per_day: 100 });
  // A zone whose midnight is four seconds from now.
  const { zone, midnight } = (await queryOne<{ zone: string; midnight: Date }>(
    `select '<X>-' || to_char(make_interval(secs => mod(86400 + 86396 - floor(extract(epoch from (at at time zone 'UTC')::time)), 86400)::float8), 'HH24:MI:SS') as zone,
       date_trunc('second', at) + interval '4 seconds' as midnight
     from now() at`,
  ))!;
  await query("update companies set timezone = $2 where id = $1", [companyId, zone]);
  const id = await campaign(5);
  engine();
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 5 });
  expect(server.messages.filter(({ at }) => at < midnight.getTime())).toEqual([]);
});

async function senderProcess(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [NODE], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...process.env,
      DATABASE_URL: sending.databaseUrl,
      MAX_IN_DOUBT: "20",
      SEND_LEASE_SECONDS: "2",
      ROOM_AGAIN_MS: `${ROOM_AGAIN_MS}`,
    },
  });
  processes.add(child);
  await once(child.stdout!, "data");
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  processes.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

test("two sender processes, killed during a day, never exceed the day's limit, and recipients in doubt count", async () => {
  await warmedUp({ start_per_day: 150, factor: 2, until_per_day: 10_000 }, { delayMs: { DOT: 10 } });
  const id = await campaign(600, 40);
  const killed = [await senderProcess(), await senderProcess()];
  await server.received(40);
  await Promise.all(killed.map(kill));
  engine();
  await dayIsFull(1);
  const first = server.accepted;
  expect(first).toBeLessThanOrEqual(150);
  // Tokens of the killed ones are lost for the day, and no more.
  expect(first).toBeGreaterThanOrEqual(40);
  await nextDay();
  await dayIsFull(2, first + 300);
  expect(server.accepted - first).toBe(300);
  await nextDay();
  const ended = await sending.finished(id);
  expect(ended.sent_count + ended.failed_count).toBe(600);
  expect(server.doubled).toEqual([]);
}, 180_000);
