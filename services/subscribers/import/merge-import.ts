/** The set-based part of an import: a temporary table, and one statement that merges it. */
import { type Client, queryOne } from "../../../models/database/db.ts";
import { allowLonger } from "../../../models/database/silence.ts";
import { IS_STRONGER } from "../../../models/statements/suppress.ts";
import { SUBSCRIBER_STATUSES } from "../../../models/subscriber.ts";
import { MAX_BYTES } from "../../lib/attributes.ts";
import { NOTHING_SAID, SUPPRESSED_FROM } from "./status-words.ts";

// Longer than a gigabyte takes; the pool's own limit is meant for requests.
const STATEMENT_TIMEOUT_MS = 14 * 60_000;

/** The COPY statement for the lines of import-rows.ts. */
export async function prepareImport(client: Client): Promise<string> {
  await allowLonger(client, STATEMENT_TIMEOUT_MS);
  // For sorting and hashing what came in; what does not fit goes to temporary files.
  await client.query("set local work_mem = '64MB'");
  await client.query(`
    create temporary table incoming (
      line integer not null,
      id_tail text not null,
      email text not null,
      first_name text not null,
      last_name text not null,
      attributes jsonb,
      state smallint not null,
      email_key text collate "C" generated always as (address_key(email)) stored
    ) on commit drop`);
  return "copy incoming (line, id_tail, email, first_name, last_name, attributes, state) from stdin";
}

/** Below it the people of a file keep its order, which is the one that somebody may look for. */
const LARGE = 10_000;

/**
 * One row of each address: the last, or where known subscribers are skipped the first; with the id that a new person gets. Ids
 * go up with the addresses, and the rows are written in that order, so that each page of each index is gone to once: 5.8 µs of
 * PostgreSQL's CPU for a row beside a million that are there, and 8.6 in the order of the file, when the index of
 * addresses is gone to at random, and read from disk again and again where it is larger than PostgreSQL's memory. Who is known
 * already pays 1.3 µs for the order (12.8 instead of 11.5).
 *
 * An id is a UUIDv7 (services/lib/ids.ts): its time and the 12 bits behind the version count up from when the reading began,
 * by 4,096 a millisecond, which nothing reads a file faster than; the rest is random, and comes with the row.
 */
const makePeople = (stays: "first" | "last", inFileOrder: boolean, beganMs: number) => `
  create temporary table people on commit drop as
  select ('0' || to_hex((${beganMs}::bigint << 16) + 28672 + ((no >> 12) << 16) + (no & 4095)) || id_tail)::uuid as id,
    email, email_key, first_name, last_name, attributes, state
  from (
    select *, row_number() over () as no from (
      select * from (
        select distinct on (email_key) * from incoming order by email_key, line ${stays === "last" ? "desc" : "asc"}) one
      ${inFileOrder ? "order by line" : ""}) ordered) numbered`;

// Of an address that occurs twice the row that stays has the most careful status of all.
const SPREAD_STATES = `
  update people p set state = d.state
  from (select email_key, max(state) as state from incoming group by email_key having count(*) > 1) d
  where p.email_key = d.email_key and p.state < d.state`;

const COUNT_NEW = `
  select count(*) n from people i
  where not exists (select 1 from subscribers s where s.company_id = $1 and s.email_key = i.email_key)`;

/** What stands in the import's table. */
export interface RowsRead {
  rows: number;
  beganMs: number;
}

/** What the rows of a file are merged by. */
export interface MergeJob {
  companyId: string;
  listId?: string | undefined;
  /** What becomes of known subscribers: names, attributes and lists are updated, or stay. */
  onConflict: "update" | "skip";
  /** The most careful status of all rows (status-words.ts). */
  state: number;
}

/** How many of the file's rows only repeated an address. Of the import's own tables, so nobody else waits for it. */
export async function dropRepeated(client: Client, { onConflict, state }: MergeJob, read: RowsRead): Promise<number> {
  const stays = onConflict === "skip" ? "first" : "last";
  const made = await client.query(makePeople(stays, read.rows < LARGE, read.beganMs));
  const repeated = read.rows - made.rowCount!;
  if (repeated > 0 && state > NOTHING_SAID) await client.query(SPREAD_STATES);
  // Of a large file as much disk as the other table takes.
  await client.query("drop table incoming");
  // What the merge joins and filters by; of all columns it took 200 ms of CPU, of these 50.
  await client.query("analyze people (email_key, state)");
  return repeated;
}

/** Addresses that are new; counted only where the plan limits them. */
export async function countNew(client: Client, companyId: string, room: number): Promise<number> {
  if (!Number.isFinite(room)) return 0;
  return (await queryOne<{ n: number }>(COUNT_NEW, [companyId], client))?.n ?? 0;
}

export interface Merged {
  created: number;
  /** Subscribers that were there before. */
  matched: number;
  /** Of these, how many got a more careful status. */
  restricted: number;
}

const STATUSES = `array[${SUBSCRIBER_STATUSES.map((status) => `'${status}'`).join(", ")}]`;

// New and known addresses are separated first: an upsert takes half as long again. Those of the company are read once, and
// only who is known is kept of them. Unchanged rows are not written again. All triggers fire at the end, so the counters are
// locked for a moment only.
const MATCHED = `
  with matched as (
    select s.id, i.email_key, i.first_name, i.last_name, i.attributes
    from people i join subscribers s on s.company_id = $1 and s.email_key = i.email_key
    for key share of s)`;

const CHANGED = `
  changed as (
    update subscribers s set
      first_name = coalesce(nullif(m.first_name, ''), s.first_name),
      last_name = coalesce(nullif(m.last_name, ''), s.last_name),
      attributes = case when m.attributes is null or octet_length((s.attributes || m.attributes)::text) > ${MAX_BYTES}
        then s.attributes else s.attributes || m.attributes end,
      updated_at = now()
    from matched m
    where s.company_id = $1 and s.id = m.id
      and (m.first_name not in ('', s.first_name) or m.last_name not in ('', s.last_name)
        or (m.attributes is not null and not s.attributes @> m.attributes)))`;

const CREATED = `
  created as (
    insert into subscribers (id, company_id, email, email_key, first_name, last_name, attributes, status)
    select i.id, $1, i.email, i.email_key, i.first_name, i.last_name, coalesce(i.attributes, '{}'), (${STATUSES})[i.state + 1]
    from people i
    where not exists (select 1 from matched m where m.email_key = i.email_key)
    returning id)`;

const JOINED = `
  joined as (
    insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from created)`;

// An import does not put a subscriber back on a list that they left themselves.
const REJOINED = `
  rejoined as (
    insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from matched
    on conflict (company_id, list_id, subscriber_id) do nothing)`;

const COUNTS = "select (select count(*) from created) as created, (select count(*) from matched) as matched";

const mergeSql = (updates: boolean, intoList: boolean) =>
  `${[MATCHED, ...(updates ? [CHANGED] : []), CREATED, ...(intoList ? [JOINED] : []), ...(intoList && updates ? [REJOINED] : [])].join(",")} ${COUNTS}`;

// In the careful direction only: a stronger block and a more careful status stay. Who was created has the status already.
const RESTRICT = `
  with said as (
    select email, email_key, state, (${STATUSES})[state + 1] as status from people where state >= ${SUPPRESSED_FROM}),
  blocked as (
    insert into suppressions as x (company_id, email, email_key, kind, reason)
    select $1, email, email_key, status, 'Status in an imported file' from said order by email_key
    on conflict (company_id, email_key) where email_key is not null
    do update set kind = excluded.kind, reason = excluded.reason where ${IS_STRONGER})
  update subscribers s set status = w.status, updated_at = now()
  from said w
  where s.company_id = $1 and s.email_key = w.email_key and w.state >= array_position(${STATUSES}, s.status)`;

export async function mergeImport(client: Client, job: MergeJob): Promise<Merged> {
  const { companyId, listId, onConflict, state } = job;
  // The list is locked while its members are written (there is no foreign key); if it has been deleted, there are none.
  const held = "select 1 from lists where company_id = $1 and id = $2 for key share";
  const list = listId && (await queryOne(held, [companyId, listId], client));
  const sql = mergeSql(onConflict === "update", Boolean(list));
  const merged = await queryOne<Merged>(sql, list ? [companyId, listId] : [companyId], client);
  const restricted = state >= SUPPRESSED_FROM ? (await client.query(RESTRICT, [companyId])).rowCount : 0;
  return { ...merged!, restricted: restricted ?? 0 };
}

const TRY = `
  select count(*) filter (where s.id is null) as created, count(s.id) as matched,
    count(*) filter (where i.state >= ${SUPPRESSED_FROM} and i.state >= array_position(${STATUSES}, s.status)) as restricted
  from people i left join subscribers s on s.company_id = $1 and s.email_key = i.email_key`;

/** What a merge would do; writes nothing. */
export const tryMerge = async (client: Client, { companyId }: MergeJob): Promise<Merged> =>
  (await queryOne<Merged>(TRY, [companyId], client))!;
