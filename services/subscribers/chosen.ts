/**
 * Selects the subscribers of a bulk change: by ids, all or nothing, or by a filter. A filter's matches are changed in the
 * order of their ids, one transaction per slice: a change of a million people holds no locks for minutes, and finished
 * slices stay if the time runs out.
 */
import { exportRead, writeManyRows } from "../../models/database/bulk.ts";
import { type Client, query } from "../../models/database/db.ts";
import { isOneOf, searchCondition } from "../../models/database/listing.ts";
import { listMembersOf, subscriberAt } from "../../models/database/row-at.ts";
import { SEARCHED_TEXT, type SubscriberStatus } from "../../models/subscriber.ts";
import type { FieldErrors } from "../lib/errors.ts";
import { listErrors, missing } from "./members.ts";

export interface SubscriberFilter {
  search?: string;
  status?: SubscriberStatus | SubscriberStatus[];
  list?: string | string[];
}

export interface Selection {
  subscriber_ids?: string[];
  filter?: SubscriberFilter;
}

/** SQL: that the subscriber s is on one of these lists. */
export const isMemberOf = (lists: string): string => `exists (select from ${listMembersOf("s.id")} o
  where o.company_id = $1 and o.list_id = any(${lists}) and o.left_at is null)`;

/** Rows with the alias `s`, read in the order of `key`. */
export interface Which {
  from: string;
  /** Names the company, the first value. */
  where: string[];
  key: string;
  values: unknown[];
}

export function whichOf(companyId: string, { search, status, list }: SubscriberFilter): Which {
  const values: unknown[] = [companyId];
  const where: string[] = [];
  let [from, key] = ["subscribers s", "s.id"];
  if (typeof list === "string") {
    // Walked by the list's own index: as a condition, each page would read the list again.
    where.push(`m.company_id = $1 and m.list_id = $${values.push(list)} and m.left_at is null`);
    key = "m.subscriber_id";
    from = `list_members m cross join lateral (${subscriberAt("$1", "m.subscriber_id", "r.*")}) s`;
  } else where.push("s.company_id = $1");
  if (Array.isArray(list)) where.push(isMemberOf(`$${values.push(list)}`));
  if (status) where.push(isOneOf("s.status", status, values));
  if (search) where.push(searchCondition([SEARCHED_TEXT], search, values));
  return { from, where, key, values };
}

/** Errors for ids and lists of other companies, and unless exactly one of ids and filter is given. */
export async function chosenErrors(
  companyId: string,
  { subscriber_ids: ids, filter }: Selection,
  isValid: (field: keyof Selection) => boolean,
): Promise<FieldErrors> {
  if (filter === undefined) {
    if (ids === undefined) return { subscriber_ids: ["This field is required."] };
    const sentences = isValid("subscriber_ids") ? await missing("subscribers", companyId, ids) : [];
    return sentences.length > 0 ? { subscriber_ids: sentences } : {};
  }
  if (ids !== undefined) return { filter: ["Give subscriber_ids or filter, not both."] };
  return isValid("filter") ? listErrors(companyId, "filter", [filter.list ?? []].flat()) : {};
}

/** The answer has to come before the request's time is up, which is 30 seconds. */
const WORK_MS = 20_000;
const BEFORE_ALL = "00000000-0000-0000-0000-000000000000";

interface Change {
  /** Ids per statement. */
  slice: number;
  write: (client: Client, ids: string[]) => Promise<void>;
}

/** Returns false if the time ran out before all were changed. */
export async function changeChosen(companyId: string, chosen: Selection, { slice, write }: Change): Promise<boolean> {
  const { subscriber_ids: named, filter = {} } = chosen;
  if (named) {
    await writeManyRows(companyId, { ids: named, slice, write });
    return true;
  }
  const { from, where, key, values } = whichOf(companyId, filter);
  const sql = `select ${key} as id from ${from} where ${where.join(" and ")} and ${key} > $${values.length + 1}
    order by ${key} limit ${slice}`;
  const endsAt = Date.now() + WORK_MS;
  for (let after = BEFORE_ALL; ; ) {
    const rows = await exportRead(companyId, (client) => query<{ id: string }>(sql, [...values, after], client));
    const ids = rows.map(({ id }) => id);
    if (ids.length > 0) await writeManyRows(companyId, { ids, slice, write });
    if (ids.length < slice) return true;
    if (Date.now() > endsAt) return false;
    after = ids.at(-1)!;
  }
}
