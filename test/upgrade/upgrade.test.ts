/**
 * Updates from the first version to this one while mail is sent and the API is used: migrations run as a job beside the
 * old processes; new processes join the old ones, then run alone; the old code comes back on the new schema; the new
 * code takes over again. Takes about five minutes and needs the repository's history, PostgreSQL, Redis and NATS.
 */
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { SENT_EMAIL_STATUSES } from "../../models/sent-email-status.ts";
import { node } from "../support/service-process.ts";
import {
  addresses,
  type Company,
  newCompany,
  newList,
  newServer,
  type RequestedCampaign,
  sendToList,
} from "./company.ts";
import { checkOut, firstVersion } from "./old-version.ts";
import { openScene, type Part, type Scene, type Version, WINDOW_SECONDS } from "./scene.ts";
import { startTraffic, type Traffic } from "./traffic.ts";

const SUBSCRIBERS = 20_000;
const SMALL = 300;
const MAILS_PER_HOUR = 40;
const LIMITED = 600;
const PHASE_MS = 12_000;
const END_WITHIN_MS = 600_000;
const CONNECTIONS = 5;
/**
 * Largest share of requests that may get 503 and be repeated: on a busy machine a process may send no heartbeat for 6
 * s, and the others then consider it unavailable.
 */
const MOST_REPEATED = 0.01;

jest.setTimeout(1_500_000);

const PRESENT: Version = { name: "present", root: undefined };
// An orchestrator starts them all at once; here callees start first and stop last.
const STARTING: Part[] = ["core", "sender", "gateway"];
const STOPPING: Part[] = ["gateway", "core", "sender"];

async function applyMigrations(databaseUrl: string): Promise<string> {
  const root = resolve(import.meta.dirname, "../..");
  const env = { ...process.env, DATABASE_URL: databaseUrl };
  const { stdout } = await promisify(execFile)(node, ["models/database/apply-migrations.ts"], { cwd: root, env });
  return stdout;
}

interface Row {
  id: string;
  status: string;
  total_emails: number;
  sent_count: number;
  failed_count: number;
  error: string | null;
}

async function untilEnded(scene: Scene, ids: readonly string[]): Promise<Row[]> {
  const deadline = Date.now() + END_WITHIN_MS;
  for (;;) {
    const rows = await scene.query<Row>(
      "select id, status, total_emails, sent_count, failed_count, error from campaigns where id = any($1::uuid[])",
      [ids],
    );
    const open = rows.filter(({ status }) => ["pending", "sending", "scheduled"].includes(status));
    if (open.length === 0 || Date.now() > deadline) return rows;
    await sleep(500);
  }
}

/** Largest number of times that fall into any window of this length. */
function mostInWindow(times: number[], windowMs: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  let most = 0;
  for (let from = 0, to = 0; to < sorted.length; to++) {
    while (sorted[to]! - sorted[from]! >= windowMs) from++;
    most = Math.max(most, to - from + 1);
  }
  return most;
}

/** Mails delivered per tenth of a second, together with the phases. */
function timeline(times: number[], entered: readonly [number, string][]): string {
  const tenths = Map.groupBy(times, (time) => Math.floor(time / 100));
  const arrived = [...tenths].map(([tenth, those]): [number, string] => [tenth * 100, `${those.length} mails`]);
  return [...arrived, ...entered]
    .toSorted(([a], [b]) => a - b)
    .map(([time, what]) => `${new Date(time).toISOString()} ${what}`)
    .join("\n");
}

describe("an upgrade from the first version, back, and forward again, in a running cluster:", () => {
  let scene: Scene;
  let old: Version;
  let traffic: Traffic;
  let company: Company;
  let limited: Company;
  let long: RequestedCampaign;
  let small: { listId: string; recipients: string[] };
  const entered: [number, string][] = [];
  /**
   * Event loop delay of this process, which also runs the mail server. A mail that is recorded late appears closer to
   * the next one, so the delay is printed with the result.
   */
  const lateness = monitorEventLoopDelay();

  beforeAll(async () => {
    lateness.enable();
    const first = firstVersion();
    old = { name: first.name, root: await checkOut(first) };
    scene = await openScene();
    await scene.start(old, ...STARTING);
    company = await newCompany(scene, "upgrade");
    limited = await newCompany(scene, "limited");
  });
  afterAll(async () => {
    await traffic?.stop();
    await scene?.stop();
  });

  /** Starts a newsletter in each phase, so that each version expands and sends what the other started. */
  async function enter(phase: string): Promise<void> {
    traffic.phase = phase;
    entered.push([Date.now(), phase]);
    const server = await newServer(company, scene.quick.port);
    await sendToList(company, { phase, name: phase, ...small, server });
    await sleep(PHASE_MS);
  }

  test("on the old version there are subscribers, a finished campaign, a slow campaign, and a campaign held back by an hourly limit", async () => {
    const people = addresses("upgrade", SUBSCRIBERS);
    const listId = await newList(company, "All", people);
    const few = addresses("small", SMALL);
    small = { listId: await newList(company, "Few", few), recipients: few };
    const first = await sendToList(company, {
      phase: "filled",
      name: "Over",
      ...small,
      server: await newServer(company, scene.quick.port),
    });
    const [over] = await untilEnded(scene, [first.id]);
    expect(over).toMatchObject({ status: "completed", sent_count: SMALL });

    const server = await newServer(company, scene.slow.port, { max_connections: CONNECTIONS });
    long = await sendToList(company, { phase: "filled", name: "Long", listId, recipients: people, server });
    await scene.query(
      `insert into plans (name, api_calls_per_day, subscribers, emails_per_month, smtp_per_hour, features)
       select 'by-the-hour', api_calls_per_day, subscribers, emails_per_month, $1, features from plans where name = 'unlimited'`,
      [MAILS_PER_HOUR],
    );
    await scene.query("update companies set plan = 'by-the-hour' where id = $1", [limited.id]);
    const some = addresses("limited", LIMITED);
    await sendToList(limited, {
      phase: "filled",
      name: "Limited",
      listId: await newList(limited, "Some", some),
      recipients: some,
      server: await newServer(limited, scene.quick.port),
      // A send to more recipients than the hourly limit is refused unless it is scheduled.
      scheduledFor: new Date(Date.now() + 2_000),
    });
    traffic = startTraffic(scene, company, await newServer(company, scene.quick.port));
    await enter("old alone");
  });

  test("migrations are applied while the old processes run", async () => {
    traffic.phase = "migrating";
    expect(await applyMigrations(scene.databaseUrl)).toMatch(/^(?:Nothing is pending|Applied \d{4}_)/);
    await enter("old on the new schema");
  });

  test("new processes join, and serve together with the old ones", async () => {
    await scene.start(PRESENT, ...STARTING);
    await enter("side by side");
  });

  test("the old processes stop", async () => {
    await scene.stopParts(old, ...STOPPING);
    const some = addresses("waits", SMALL);
    await sendToList(company, {
      phase: "new alone",
      name: "Waits for the new version while the old one is back",
      listId: await newList(company, "Some", some),
      recipients: some,
      server: await newServer(company, scene.slow.port, { max_connections: 1 }),
    });
    await enter("new alone");
  });

  test("the code goes back to the old version on the new schema", async () => {
    await scene.start(old, ...STARTING);
    await enter("side by side, going back");
    await scene.stopParts(PRESENT, ...STOPPING);
    await enter("old again");
  });

  test("the new version runs again", async () => {
    await scene.start(PRESENT, ...STARTING);
    await scene.stopParts(old, ...STOPPING);
    await enter("new again");
    const [slow] = await scene.query<Row>("select status, sent_count from campaigns where id = $1", [long.id]);
    process.stdout.write(`The long campaign is ${slow!.status}, ${slow!.sent_count} sent\n`);
    // This campaign only had to last as long as the update.
    scene.slow.quicken();
  });

  test("every request got the right response; 503 is rare, and its retry succeeds", async () => {
    await traffic.stop();
    const { requests, repeated, failures } = traffic;
    process.stdout.write(`${requests} requests, ${repeated} repeated after 503\n`);
    if (repeated > 0) process.stdout.write(`${scene.said()}\n`);
    expect(Object.fromEntries(failures)).toEqual({});
    expect(repeated).toBeLessThan(requests * MOST_REPEATED);
  });

  test("all campaigns are completed, and no recipient is in doubt, lost or mailed twice", async () => {
    const asked = [...company.asked, ...limited.asked];
    const rows = await untilEnded(
      scene,
      asked.map(({ id }) => id),
    );
    const phaseOf = new Map(asked.map(({ id, phase }) => [id, phase]));
    const notCompleted = rows.filter(({ status }) => status !== "completed");
    if (notCompleted.length > 0) process.stdout.write(scene.said());
    expect(notCompleted.map((row) => ({ ...row, phase: phaseOf.get(row.id) }))).toEqual([]);
    expect(rows).toHaveLength(asked.length);

    const byStatus = await scene.query<{ status: number; n: number }>(
      "select status, count(*)::int as n from sent_emails group by 1",
    );
    const mails = asked.reduce((sum, { recipients }) => sum + recipients.length, 0);
    expect(byStatus.map(({ status, n }) => [SENT_EMAIL_STATUSES[status], n])).toEqual([["sent", mails]]);
    // Counted by triggers, whichever version wrote.
    const counted = await scene.query<{ name: string; n: number }>(
      "select name, sum(n)::int as n from counters where name in ('mails', 'mails:sent') group by 1 order by 1",
    );
    expect(counted.map(({ n }) => n)).toEqual([mails, mails]);
    const lost = asked.flatMap(({ sender, recipients, phase }) => {
      const known = scene.quick.arrivals.get(sender) ?? scene.slow.to(sender);
      return recipients.filter((email) => !known.has(email)).map((email) => `${phase}: ${email}`);
    });
    expect(lost).toEqual([]);
    expect([...scene.quick.doubled(), ...scene.slow.doubled()]).toEqual([]);
    process.stdout.write(`${asked.length} campaigns, ${mails} mails\n`);
  });

  test("the hourly limit was kept in every window", () => {
    const [{ sender }] = limited.asked as [RequestedCampaign];
    const times = [...scene.quick.to(sender).values()].flat();
    const most = mostInWindow(times, WINDOW_SECONDS * 1_000);
    const lateMs = Math.ceil(lateness.max / 1e6);
    process.stdout.write(
      `at most ${most} mails in one window, ${MAILS_PER_HOUR} allowed; arrivals were recorded up to ${lateMs} ms late\n`,
    );
    if (most > MAILS_PER_HOUR) process.stdout.write(`${timeline(times, entered)}\n`);
    expect(most).toBeLessThanOrEqual(MAILS_PER_HOUR);
  });

  test("every mail caused a webhook", async () => {
    const expected = [...company.asked, ...limited.asked].flatMap(({ id, recipients }) =>
      recipients.map((email) => `${id} ${email}`),
    );
    const deadline = Date.now() + END_WITHIN_MS;
    const missing = () => expected.filter((one) => !scene.delivered.has(one));
    while (missing().length > 0 && Date.now() < deadline) await sleep(500);
    expect(missing()).toEqual([]);
  });
});
