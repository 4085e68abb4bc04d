/**
 * Merges the people of a file into the company's subscribers, in slices within one transaction. Slices keep their rows
 * and the triggers' transition tables in memory.
 */
import { type Client, queryOne } from "../../../models/database/db.ts";
import { SUBSCRIBER_STATUSES } from "../../../models/subscriber.ts";
import { MAX_BYTES } from "../../lib/attributes.ts";
import { IS_STRONGER } from "../suppress.ts";
import { LARGE_FILE_ROWS, type MergeJob } from "./import-tables.ts";
import { SUPPRESSED_FROM } from "./status-words.ts";

/** Number of rows that a temporary table holds in memory (8 MB). */
const SLICE_ROWS = 20_000;

export interface Merged {
  created: number;
  /** Subscribers that existed before. */
  matched: number;
  /** Number of these subscribers that got a more restrictive status. */
  restricted: number;
}

const STATUSES = `array[${SUBSCRIBER_STATUSES.map((status) => `'${status}'`).join(", ")}]`;

/**
 * Slices are page ranges of the import's table, from $2 up to $3. Pages beyond the counted ones belong to the last
 * slice.
 */
const IN_SLICE = "i.ctid >= $2::tid and i.ctid < $3::tid";
const END = "(4294967295,0)";

const PAGES = `
  select greatest(pg_relation_size('pg_temp.people') / current_setting('block_size')::bigint, 1)::integer as pages`;

/** Lowest and highest address of a slice, in index order. */
const BOUNDS = `
  select min(email_key collate "default") as low, max(email_key collate "default") as high
  from people i where i.ctid >= $1::tid and i.ctid < $2::tid`;

const KNOWN_TABLE = `
  create temporary table known (id uuid not null, email_key text collate "C" not null, first_name text, last_name text, attributes jsonb)
  on commit drop`;

// Separates known from new addresses, which is faster than an upsert. Locks the known subscribers, so that nobody
// removes them or changes their address.
const KNOWN = `
  insert into known (id, email_key, first_name, last_name, attributes)
  select s.id, i.email_key, i.first_name, i.last_name, i.attributes
  from people i join subscribers s on s.company_id = $1 and s.email_key = i.email_key collate "default"
    and s.email_key between $4 and $5
  where ${IN_SLICE}
  for key share of s`;

// Skips unchanged rows.
const CHANGE = `
  update subscribers s set
    first_name = coalesce(nullif(k.first_name, ''), s.first_name),
    last_name = coalesce(nullif(k.last_name, ''), s.last_name),
    attributes = case when k.attributes is null or octet_length((s.attributes || k.attributes)::text) > ${MAX_BYTES}
      then s.attributes else s.attributes || k.attributes end,
    updated_at = now()
  from known k
  where s.company_id = $1 and s.email_key = k.email_key collate "default" and s.email_key between $2 and $3 and s.id = k.id
    and (k.first_name not in ('', s.first_name) or k.last_name not in ('', s.last_name)
      or (k.attributes is not null and not s.attributes @> k.attributes))`;

const NEW = `from people i where ${IN_SLICE} and not exists (select from known k where k.email_key = i.email_key)`;

const CREATE = `
  insert into subscribers (id, company_id, email, email_key, first_name, last_name, attributes, status, import_id)
  select i.id, $1, i.email, i.email_key, i.first_name, i.last_name, coalesce(i.attributes, '{}'), (${STATUSES})[i.state + 1], $4
  ${NEW}`;

const JOIN = `insert into list_members (company_id, list_id, subscriber_id) select $1, $4, i.id ${NEW}`;

// An import does not put subscribers back on a list that they left themselves.
const REJOIN = `
  insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from known
  on conflict (company_id, list_id, subscriber_id) do nothing`;

// Makes statuses only more restrictive: a stronger suppression and a more restrictive status stay. New subscribers
// already have the status.
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

async function slicesOf(client: Client, rows: number): Promise<Slice[]> {
  const { pages } = (await queryOne<{ pages: number }>(PAGES, [], client))!;
  const slices = Math.min(pages, Math.ceil(rows / SLICE_ROWS) || 1);
  const edge = (slice: number) => (slice < slices ? `(${Math.floor((pages * slice) / slices)},0)` : END);
  return Array.from({ length: slices }, (_, slice) => ({ from: edge(slice), to: edge(slice + 1) }));
}

/**
 * Counters stay locked until the transaction ends, so use a separate slot (`counter_slot()`). For a large file, disable
 * nested loops: PostgreSQL underestimates tables that were not analysed yet.
 */
async function prepareMerge(client: Client, rows: number): Promise<void> {
  await client.query("set local flockmail.slot = 32");
  if (rows >= LARGE_FILE_ROWS) await client.query("set local enable_nestloop = off");
  await client.query(KNOWN_TABLE);
}

interface Bounds {
  low: string | null;
  high: string | null;
}

interface Slice {
  from: string;
  to: string;
}

/** Numbers of new and of known people in a slice. */
async function mergeSlice(
  client: Client,
  job: MergeJob,
  { from, to }: Slice,
): Promise<[created: number, matched: number]> {
  const { companyId, listId, onConflict } = job;
  const updates = onConflict === "update";
  const write = async (sql: string, values: unknown[]) => (await client.query(sql, values)).rowCount!;
  const { low, high } = (await queryOne<Bounds>(BOUNDS, [from, to], client))!;
  await client.query("truncate known");
  const matched = await write(KNOWN, [companyId, from, to, low, high]);
  if (updates) await write(CHANGE, [companyId, low, high]);
  const created = await write(CREATE, [companyId, from, to, job.importId]);
  if (listId) await write(JOIN, [companyId, from, to, listId]);
  if (listId && updates) await write(REJOIN, [companyId, listId]);
  return [created, matched];
}

/** `rows` is the number of rows in the import's table, or slightly more. */
export async function mergeImport(client: Client, job: MergeJob, rows: number): Promise<Merged> {
  const { companyId, state } = job;
  await prepareMerge(client, rows);
  // Locks the list while members are written, because there is no foreign key; a deleted list gets none.
  const lockList = "select 1 from lists where company_id = $1 and id = $2 for key share";
  const listId = job.listId && (await queryOne(lockList, [companyId, job.listId], client)) ? job.listId : undefined;
  const merged: Merged = { created: 0, matched: 0, restricted: 0 };
  for (const slice of await slicesOf(client, rows)) {
    const [created, matched] = await mergeSlice(client, { ...job, listId }, slice);
    merged.created += created;
    merged.matched += matched;
  }
  if (state >= SUPPRESSED_FROM) merged.restricted = (await client.query(RESTRICT, [companyId])).rowCount!;
  return merged;
}

const TRY = `
  select count(*) filter (where s.id is null) as created, count(s.id) as matched,
    count(*) filter (where i.state >= ${SUPPRESSED_FROM} and i.state >= array_position(${STATUSES}, s.status)) as restricted
  from people i left join subscribers s on s.company_id = $1 and s.email_key = i.email_key`;

/** Counts what a merge would do without writing. */
export const tryMerge = async (client: Client, { companyId }: MergeJob): Promise<Merged> =>
  (await queryOne<Merged>(TRY, [companyId], client))!;
