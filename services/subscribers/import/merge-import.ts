/**
 * How the people of a file come to those who are there: slice by slice, in one transaction, so that all of them do or none.
 * A slice's rows and what its triggers look at stay in memory: 14 µs of PostgreSQL's CPU for a new person with membership of a
 * list, and 21 where one statement wrote all of a million and kept them on disk for its triggers.
 */
import { type Client, queryOne } from "../../../models/database/db.ts";
import { SUBSCRIBER_STATUSES } from "../../../models/subscriber.ts";
import { MAX_BYTES } from "../../lib/attributes.ts";
import { IS_STRONGER } from "../suppress.ts";
import { LARGE, type MergeJob } from "./import-tables.ts";
import { SUPPRESSED_FROM } from "./status-words.ts";

/** As many as PostgreSQL keeps of a temporary table without a file (8 MB). */
const SLICE_ROWS = 20_000;

export interface Merged {
  created: number;
  /** Subscribers that were there before. */
  matched: number;
  /** Of these, how many got a more careful status. */
  restricted: number;
}

const STATUSES = `array[${SUBSCRIBER_STATUSES.map((status) => `'${status}'`).join(", ")}]`;

/**
 * By pages of the import's table: $2 is a slice's first, $3 the next slice's. What is beyond the last page that was counted
 * belongs to the last slice.
 */
const OF_SLICE = "i.ctid >= $2::tid and i.ctid < $3::tid";
const END = "(4294967295,0)";

const PAGES = `
  select greatest(pg_relation_size('pg_temp.people') / current_setting('block_size')::bigint, 1)::integer as pages`;

/** Between which addresses a slice's lie, in the order of the index of addresses. */
const BOUNDS = `
  select min(email_key collate "default") as low, max(email_key collate "default") as high
  from people i where i.ctid >= $1::tid and i.ctid < $2::tid`;

const KNOWN_TABLE = `
  create temporary table known (id uuid not null, email_key text collate "C" not null, first_name text, last_name text, attributes jsonb)
  on commit drop`;

// New and known addresses are separated first: an upsert takes half as long again. Of the company's people those between a
// slice's addresses are read, and whoever is known is locked: nobody removes them or changes their address any more.
const KNOWN = `
  insert into known (id, email_key, first_name, last_name, attributes)
  select s.id, i.email_key, i.first_name, i.last_name, i.attributes
  from people i join subscribers s on s.company_id = $1 and s.email_key = i.email_key collate "default"
    and s.email_key between $4 and $5
  where ${OF_SLICE}
  for key share of s`;

// Unchanged rows are not written again.
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

const NEW = `from people i where ${OF_SLICE} and not exists (select from known k where k.email_key = i.email_key)`;

const CREATE = `
  insert into subscribers (id, company_id, email, email_key, first_name, last_name, attributes, status, import_id)
  select i.id, $1, i.email, i.email_key, i.first_name, i.last_name, coalesce(i.attributes, '{}'), (${STATUSES})[i.state + 1], $4
  ${NEW}`;

const JOIN = `insert into list_members (company_id, list_id, subscriber_id) select $1, $4, i.id ${NEW}`;

// An import does not put a subscriber back on a list that they left themselves.
const REJOIN = `
  insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from known
  on conflict (company_id, list_id, subscriber_id) do nothing`;

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

async function slicesOf(client: Client, rows: number): Promise<Slice[]> {
  const { pages } = (await queryOne<{ pages: number }>(PAGES, [], client))!;
  const slices = Math.min(pages, Math.ceil(rows / SLICE_ROWS) || 1);
  const edge = (no: number) => (no < slices ? `(${Math.floor((pages * no) / slices)},0)` : END);
  return Array.from({ length: slices }, (_, no) => ({ from: edge(no), to: edge(no + 1) }));
}

/**
 * What is counted meanwhile stays locked until the transaction ends, so it has a slot of its own (`counter_slot()`).
 * Of a large file each join goes once through both sides: with a company whose rows nobody has counted yet, PostgreSQL takes
 * them for few, and would go through a slice for each of them.
 */
async function prepareMerge(client: Client, rows: number): Promise<void> {
  await client.query("set local flockmail.slot = 32");
  if (rows >= LARGE) await client.query("set local enable_nestloop = off");
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

/** How many of a slice's people are new, and how many were known. */
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

/** `rows`: how many the import's table has, or a few more. */
export async function mergeImport(client: Client, job: MergeJob, rows: number): Promise<Merged> {
  const { companyId, state } = job;
  await prepareMerge(client, rows);
  // The list is locked while its members are written (there is no foreign key); if it has been deleted, there are none.
  const held = "select 1 from lists where company_id = $1 and id = $2 for key share";
  const listId = job.listId && (await queryOne(held, [companyId, job.listId], client)) ? job.listId : undefined;
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

/** What a merge would do; writes nothing. */
export const tryMerge = async (client: Client, { companyId }: MergeJob): Promise<Merged> =>
  (await queryOne<Merged>(TRY, [companyId], client))!;
