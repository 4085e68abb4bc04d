/** Who is on which list. Set-based: ids × lists in one statement each. */
import { type Queryable, query } from "../../models/database/db.ts";
import { type FieldErrors, missingObject } from "../lib/errors.ts";

// More sentences than this help nobody.
const MAX_TOLD = 10;

const EXISTING = {
  subscribers: "select id from subscribers where company_id = $1 and id = any ($2::uuid[])",
  lists: "select id from lists where company_id = $1 and id = any ($2::uuid[])",
};

/** A sentence for each id that is no such object of this company. */
export async function missing(what: keyof typeof EXISTING, companyId: string, ids: readonly string[]) {
  if (ids.length === 0) return [];
  const rows = await query<{ id: string }>(EXISTING[what], [companyId, ids]);
  const existing = new Set(rows.map(({ id }) => id));
  return [...new Set(ids)]
    .filter((id) => !existing.has(id.toLowerCase()))
    .slice(0, MAX_TOLD)
    .map(missingObject);
}

export async function listErrors(companyId: string, field: string, ids: readonly string[]): Promise<FieldErrors> {
  const sentences = await missing("lists", companyId, ids);
  return sentences.length > 0 ? { [field]: sentences } : {};
}

// Both sides are held while the rows that join them are written; there is no foreign key (see the migration).
// Whom the owner adds by id is on the list again, also after leaving it on the preferences page.
const ADD = `
  with l as (select id from lists where company_id = $1 and id = any ($3::uuid[]) order by id for key share),
  p as (select id from subscribers where company_id = $1 and id = any ($2::uuid[]) order by id for key share)
  insert into list_members as m (company_id, list_id, subscriber_id)
  select $1, l.id, p.id from l, p order by l.id, p.id
  on conflict (company_id, list_id, subscriber_id) do update set left_at = null where m.left_at is not null
  returning subscriber_id`;

const REMOVE = `
  with gone as (
    delete from list_members where company_id = $1 and subscriber_id = any ($2::uuid[]) and list_id = any ($3::uuid[])
    returning subscriber_id, left_at)
  select subscriber_id from gone where left_at is null`;

interface Member {
  subscriber_id: string;
}

/** One row for each membership that is new. */
export const addToLists = (on: Queryable, companyId: string, subscriberIds: string[], listIds: string[]) =>
  query<Member>(ADD, [companyId, subscriberIds, listIds], on);

/** One row for each membership that ended. */
export const removeFromLists = (on: Queryable, companyId: string, subscriberIds: string[], listIds: string[]) =>
  query<Member>(REMOVE, [companyId, subscriberIds, listIds], on);
