/** Deletes, suppresses, and moves between lists many subscribers. */
import { type Client, query, queryOne } from "../../models/database/db.ts";
import { removeSubscribers } from "../../models/statements/remove-subscribers.ts";
import { changeChosen, chosenErrors, type Selection } from "./chosen.ts";
import { ADDED, listErrors } from "./members.ts";
import { IS_STRONGER } from "./suppress.ts";

/** `complete` is present only if work is left. */
const unfinished = (complete: boolean): { complete?: false } => (complete ? {} : { complete: false });

/** Subscribers removed per statement, with their memberships and the links of their emails. */
const REMOVED_AT_ONCE = 2_500;

export async function removeMany(companyId: string, chosen: Selection) {
  let deleted = 0;
  const write = async (client: Client, ids: string[]) => {
    deleted += await removeSubscribers(companyId, ids, client);
  };
  const complete = await changeChosen(companyId, chosen, { slice: REMOVED_AT_ONCE, write });
  return { deleted, ...unfinished(complete) };
}

const SUPPRESS = `
  with blocked as (
    insert into suppressions as x (company_id, email, reason, kind)
    select $1, s.email, $3, 'manual' from subscribers s where s.company_id = $1 and s.id = any ($2::uuid[]) order by s.email_key
    on conflict (company_id, email_key) where email_key is not null do update set
      kind = case when ${IS_STRONGER} then excluded.kind else x.kind end,
      reason = coalesce(nullif(excluded.reason, ''), x.reason)
    returning xmax = 0 as is_new)
  select count(*) filter (where is_new)::int as suppressed, count(*) filter (where not is_new)::int as existing from blocked`;

const SUPPRESSED_AT_ONCE = 5_000;

export async function suppressMany(companyId: string, { reason = "", ...chosen }: Selection & { reason?: string }) {
  const counts = { suppressed: 0, existing: 0 };
  const write = async (client: Client, ids: string[]) => {
    const one = (await queryOne<typeof counts>(SUPPRESS, [companyId, ids, reason], client))!;
    counts.suppressed += one.suppressed;
    counts.existing += one.existing;
  };
  const complete = await changeChosen(companyId, chosen, { slice: SUPPRESSED_AT_ONCE, write });
  return { ...counts, ...unfinished(complete) };
}

// $3: lists to join, $4: lists to leave.
const CHANGE = `
  with ${ADDED},
  gone as (
    delete from list_members
    where company_id = $1 and subscriber_id = any ($2::uuid[]) and list_id = any ($4::uuid[]) and cardinality($4::uuid[]) > 0
    returning subscriber_id, left_at),
  removed as (select subscriber_id from gone where left_at is null)
  select (select count(*) from added) as added, (select count(*) from removed) as removed,
    (select count(*) from (select subscriber_id from added union select subscriber_id from removed) x) as updated`;

interface BulkLists extends Selection {
  add_to_lists?: string[];
  remove_from_lists?: string[];
}

/** Returns errors for unknown ids in the fields that passed the schema. */
export async function bulkErrors(companyId: string, given: BulkLists, isValid: (field: keyof BulkLists) => boolean) {
  const errors = await chosenErrors(companyId, given, isValid);
  for (const field of ["add_to_lists", "remove_from_lists"] as const) {
    if (isValid(field)) Object.assign(errors, await listErrors(companyId, field, given[field] ?? []));
  }
  return errors;
}

interface ChangedLists {
  /** Subscribers with a new or ended membership. */
  updated: number;
  /** New memberships. */
  added: number;
  /** Ended memberships. */
  removed: number;
  /** Present only if the time ran out. */
  complete?: false;
}

/** Memberships per statement. */
const SLICE = 5_000;

/** If a list is in both fields, all of the subscribers end up on it. */
export async function updateLists(companyId: string, given: BulkLists): Promise<ChangedLists> {
  const { add_to_lists: toJoin = [], remove_from_lists = [] } = given;
  const toLeave = remove_from_lists.filter((id) => !toJoin.includes(id));
  const counts: ChangedLists = { updated: 0, added: 0, removed: 0 };
  const slice = Math.ceil(SLICE / Math.max(1, toJoin.length + toLeave.length));
  const write = async (client: Client, ids: string[]) => {
    const [changed] = await query<ChangedLists>(CHANGE, [companyId, ids, toJoin, toLeave], client);
    counts.updated += changed!.updated;
    counts.added += changed!.added;
    counts.removed += changed!.removed;
  };
  return (await changeChosen(companyId, given, { slice, write })) ? counts : { ...counts, complete: false };
}
