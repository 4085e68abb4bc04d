/**
 * PostgreSQL 18 up to 18.4 may crash in a statement that locks a row changed by another session and afterwards selects
 * partitions of a table (see inAnyPart() in models/database/campaign-no.ts). The crash depends on freed memory, so this
 * checks the plans of all locking and writing statements and runs one of them.
 */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { BY_KEY } from "../../../models/database/by-key.ts";
import { inAnyPart } from "../../../models/database/campaign-no.ts";
import { emptied } from "../../../models/statements/erase-steps.ts";
import { RECORD_AGAIN, RECORD_LATE, REQUEUE_UNSENT } from "../../../models/statements/record-late-outcomes.ts";
import { RECORD, RECORD_ALL, RECORD_ROW_ONLY } from "../../../models/statements/record-outcomes.ts";
import { FAIL_CHUNKS } from "../../../services/campaigns/lifecycle/fail-untried.ts";
import { EXPIRED_CHUNKS, EXPIRED_SINGLES } from "../../../services/smtp-sender/claim/recover-leases.ts";
import { SETTLE as SETTLE_STUCK } from "../../../services/smtp-sender/claim/settle-stuck.ts";
import { CLAIM_DUE, CLAIM_DUE_COPIES } from "../../../services/smtp-sender/delivery/recipient-statements.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { type PlannedNode, planned, withBelow } from "../../support/planned.ts";

const MAILS = 3_000;
const EMPTY_ALL = `
  with found as (select campaign_no, seq from sent_emails where campaign_no = (select min(no) from campaigns where name <> $1)),
  ${emptied("found").replaceAll("$4", "$1").replaceAll("$2", "$1")}
  select count(*)::int as n from emptied`;

const STATEMENTS = {
  CLAIM_DUE,
  CLAIM_DUE_COPIES,
  EXPIRED_CHUNKS,
  EXPIRED_SINGLES,
  SETTLE_STUCK,
  FAIL_CHUNKS,
  RECORD,
  RECORD_ALL,
  RECORD_ROW_ONLY,
  RECORD_LATE,
  RECORD_AGAIN,
  REQUEUE_UNSENT,
  EMPTY_ALL,
};

/** Parts of the statement that PostgreSQL evaluates again for a changed row: CTEs and subselects. */
const subplans = (root: PlannedNode): PlannedNode[] =>
  withBelow(root).filter((node) => node["Subplan Name"] !== undefined);
/** `campaign_no = l.campaign_no`, or a subselect's result: partitions are selected at run time. */
const CHOSEN = /campaign_no = (?!ANY|\$\d)/;
const chooses = (node: PlannedNode) =>
  withBelow(node).some(({ "Index Cond": condition = "" }) => CHOSEN.test(condition));
const locksRows = (node: PlannedNode) => withBelow(node).some((inner) => inner["Node Type"] === "LockRows");

let database: TestDatabase;
let client: pg.Client;
let other: pg.Client;
const connect = async () => {
  const connected = new pg.Client({ connectionString: database.url });
  connected.on("error", () => {});
  await connected.connect();
  for (const [name, value] of Object.entries(BY_KEY)) await connected.query(`set ${name} = ${value}`);
  return connected;
};
beforeAll(async () => {
  database = await createDatabase();
  [client, other] = [await connect(), await connect()];
  await client.query(`
    insert into companies (id, name, plan) select uuid_v7(), 'A', name from plans limit 1;
    insert into campaigns (id, company_id, name, status, campaign_type, smtp_config_id, worker_task_id)
      select uuid_v7(), id, 'N', 'sending', 'custom', uuid_v7(), uuid_v7() from companies`);
});
afterAll(async () => {
  await Promise.all([client.end(), other.end()]);
  await database.drop();
});

test.each(Object.entries(STATEMENTS))("%s selects no partition after locking rows", async (_name, statement) => {
  const root = await planned(client, statement);
  const locking = subplans(root).filter(locksRows);
  expect(locking.length).toBeGreaterThan(0);
  // Nodes that complete before the lock, because it reads what was written.
  const first = new Set<string>();
  const through = (node: PlannedNode): void => {
    for (const { "CTE Name": name } of withBelow(node)) {
      if (name === undefined || first.has(name)) continue;
      first.add(name);
      for (const plan of subplans(root)) if (plan["Subplan Name"] === `CTE ${name}`) through(plan);
    }
  };
  for (const plan of locking) {
    first.clear();
    through(plan);
    const after = subplans(root).filter(
      (later) =>
        !withBelow(plan).includes(later) &&
        !withBelow(later).includes(plan) &&
        !first.has(later["Subplan Name"]!.replace(/^CTE /, "")),
    );
    expect(after.filter(chooses).map((later) => later["Subplan Name"])).toEqual([]);
  }
});

/**
 * Claims retries from a table of three small partitions; with `=` instead of inAnyPart() the server crashed every time.
 */
test("the server survives a row that changes while it is being locked, and writes all rows", async () => {
  await client.query(`
    create table parted (campaign_no int, seq int, n int, primary key (campaign_no, seq)) partition by range (campaign_no);
    create table parted_0 partition of parted for values from (0) to (10);
    create table parted_1 partition of parted for values from (10) to (20);
    create table parted_2 partition of parted for values from (20) to (30);
    insert into parted select no, seq, 0 from unnest(array[1, 11, 21]) no, generate_series(1, ${MAILS}) seq;
    analyze parted`);
  await other.query("begin; update parted set n = 100 where campaign_no = 1 and seq = 1");
  const waiting = client.query(`
    with due as (select campaign_no, seq from parted where campaign_no = 1 order by seq for update),
    taken as (
      update parted e set n = e.n + 1
      from unnest((select array_agg(campaign_no) from due), (select array_agg(seq) from due)) d (campaign_no, seq)
      where ${inAnyPart("e.campaign_no", "d.campaign_no")} and e.seq = d.seq returning e.n)
    select count(*)::int as n, max(n) as most from taken`);
  waiting.catch(() => {});
  const { processID } = client as unknown as { processID: number };
  const blocked = "select count(*)::int as n from pg_locks where not granted and pid = $1";
  for (let waits = 0; waits === 0; await sleep(10)) waits = (await other.query(blocked, [processID])).rows[0].n;
  await other.query("commit");
  expect((await waiting).rows).toEqual([{ n: MAILS, most: 101 }]);
});
