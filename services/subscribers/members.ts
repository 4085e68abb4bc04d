/** List memberships, written set-based: subscribers × lists in one statement each. */
import { type Queryable, query, queryOne } from "../../models/database/db.ts";
import { type FieldErrors, missingObject } from "../lib/errors.ts";

/** Maximum number of errors in a response. */
const MAX_REPORTED = 10;

const existing = (table: "subscribers" | "lists", what: string) => `
  select ${what} from ${table} where company_id = $1 and id = any ($2::uuid[])`;

/** Returns an error for each id that does not exist in the company. */
export async function missing(table: "subscribers" | "lists", companyId: string, ids: readonly string[]) {
  if (ids.length === 0) return [];
  const distinctIds = [...new Set(ids.map((id) => id.toLowerCase()))];
  const values = [companyId, distinctIds];
  // Usually all exist, so counting is enough.
  const { n } = (await queryOne<{ n: number }>(existing(table, "count(*) as n"), values))!;
  if (n === distinctIds.length) return [];
  const found = new Set((await query<{ id: string }>(existing(table, "id"), values)).map(({ id }) => id));
  return [...new Set(ids)]
    .filter((id) => !found.has(id.toLowerCase()))
    .slice(0, MAX_REPORTED)
    .map(missingObject);
}

export async function listErrors(companyId: string, field: string, ids: readonly string[]): Promise<FieldErrors> {
  const sentences = await missing("lists", companyId, ids);
  return sentences.length > 0 ? { [field]: sentences } : {};
}

// Locks subscribers and lists, because memberships have no foreign keys. A subscriber added by id rejoins even after
// leaving on the preferences page, without a confirmation.
export const ADDED = `
  l as (select id from lists where company_id = $1 and id = any ($3::uuid[]) order by id for key share),
  p as (
    select id from subscribers where company_id = $1 and id = any ($2::uuid[]) and cardinality($3::uuid[]) > 0
    order by id for key share),
  unwished as (
    delete from list_wishes
    where company_id = $1 and subscriber_id = any ($2::uuid[]) and list_id = any ($3::uuid[]) and cardinality($3::uuid[]) > 0),
  added as (
    insert into list_members as m (company_id, list_id, subscriber_id)
    select $1, l.id, p.id from l, p order by l.id, p.id
    on conflict (company_id, list_id, subscriber_id) do update set left_at = null where m.left_at is not null
    returning subscriber_id)`;

const ADD = `with ${ADDED} select from added`;

export const addToLists = (client: Queryable, companyId: string, subscriberIds: string[], listIds: string[]) =>
  query(ADD, [companyId, subscriberIds, listIds], client);

// A pending confirmation and a membership of one list may coexist if a member has to confirm again.
const OF_SUBSCRIBER = `
  select l.id, l.name, case when m.left_at is not null then 'left' when m.list_id is not null then 'on' else 'waiting' end as state,
    m.created_at as joined_at, m.left_at, w.asked_at
  from (
    select list_id from list_members where company_id = $1 and subscriber_id = $2
    union
    select list_id from list_wishes where company_id = $1 and subscriber_id = $2) k
  join lists l on l.company_id = $1 and l.id = k.list_id
  left join list_members m on m.company_id = $1 and m.list_id = l.id and m.subscriber_id = $2
  left join list_wishes w on w.company_id = $1 and w.list_id = l.id and w.subscriber_id = $2
  order by coalesce(m.created_at, w.asked_at) desc, l.id`;

interface MembershipRow {
  id: string;
  name: string;
  state: "on" | "left" | "waiting";
  joined_at: Date | null;
  left_at: Date | null;
  asked_at: Date | null;
}

/** Memberships of one subscriber, including lists that were left or wait for a confirmation. */
export async function membershipsOf(companyId: string, subscriberId: string) {
  const rows = await query<MembershipRow>(OF_SUBSCRIBER, [companyId, subscriberId]);
  const iso = (at: Date | null) => at?.toISOString() ?? null;
  return rows.map(({ joined_at, left_at, asked_at, ...list }) => ({
    ...list,
    joined_at: iso(joined_at),
    left_at: iso(left_at),
    asked_at: iso(asked_at),
  }));
}
