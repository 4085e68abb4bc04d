/** How the people of a file come to those who are there: in one transaction, so that all of them do or none. */
import { type Client, queryOne } from "../../../models/database/db.ts";
import { SUBSCRIBER_STATUSES } from "../../../models/subscriber.ts";
import { MAX_BYTES } from "../../lib/attributes.ts";
import { IS_STRONGER } from "../suppress.ts";
import { LARGE, type MergeJob } from "./import-tables.ts";
import { SUPPRESSED_FROM } from "./status-words.ts";

export interface Merged {
  created: number;
  /** Subscribers that were there before. */
  matched: number;
  /** Of these, how many got a more careful status. */
  restricted: number;
}

const STATUSES = `array[${SUBSCRIBER_STATUSES.map((status) => `'${status}'`).join(", ")}]`;

const KNOWN_TABLE = `
  create temporary table known (id uuid not null, email_key text collate "C" not null, first_name text, last_name text, attributes jsonb)
  on commit drop`;

// Whoever is known is locked: nobody removes them or changes their address any more.
const KNOWN = `
  insert into known (id, email_key, first_name, last_name, attributes)
  select s.id, i.email_key, i.first_name, i.last_name, i.attributes
  from people i join subscribers s on s.company_id = $1 and s.email_key = i.email_key collate "default"
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
  where s.company_id = $1 and s.email_key = k.email_key collate "default" and s.id = k.id
    and (k.first_name not in ('', s.first_name) or k.last_name not in ('', s.last_name)
      or (k.attributes is not null and not s.attributes @> k.attributes))`;

const NEW = `from people i where not exists (select from known k where k.email_key = i.email_key)`;

const CREATE = `
  insert into subscribers (id, company_id, email, email_key, first_name, last_name, attributes, status, import_id)
  select i.id, $1, i.email, i.email_key, i.first_name, i.last_name, coalesce(i.attributes, '{}'), (${STATUSES})[i.state + 1], $2
  ${NEW}`;

const JOIN = `insert into list_members (company_id, list_id, subscriber_id) select $1, $2, i.id ${NEW}`;

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

/** `rows`: how many the import's table has, or a few more. */
export async function mergeImport(client: Client, job: MergeJob, rows: number): Promise<Merged> {
  const { companyId, importId, onConflict, state } = job;
  await prepareMerge(client, rows);
  // The list is locked while its members are written (there is no foreign key); if it has been deleted, there are none.
  const held = "select 1 from lists where company_id = $1 and id = $2 for key share";
  const listId = job.listId && (await queryOne(held, [companyId, job.listId], client)) ? job.listId : undefined;
  const write = async (sql: string, ...values: unknown[]) =>
    (await client.query(sql, [companyId, ...values])).rowCount!;
  const matched = await write(KNOWN);
  if (onConflict === "update") await write(CHANGE);
  const created = await write(CREATE, importId);
  if (listId) await write(JOIN, listId);
  if (listId && onConflict === "update") await write(REJOIN, listId);
  const restricted = state >= SUPPRESSED_FROM ? await write(RESTRICT) : 0;
  return { created, matched, restricted };
}

const TRY = `
  select count(*) filter (where s.id is null) as created, count(s.id) as matched,
    count(*) filter (where i.state >= ${SUPPRESSED_FROM} and i.state >= array_position(${STATUSES}, s.status)) as restricted
  from people i left join subscribers s on s.company_id = $1 and s.email_key = i.email_key`;

/** What a merge would do; writes nothing. */
export const tryMerge = async (client: Client, { companyId }: MergeJob): Promise<Merged> =>
  (await queryOne<Merged>(TRY, [companyId], client))!;
