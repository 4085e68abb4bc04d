import { transaction } from "../../models/database/db.ts";
import type { FieldErrors } from "../lib/errors.ts";
import { addToLists, listErrors, missing, removeFromLists } from "./members.ts";

export interface BulkLists {
  subscriber_ids: string[];
  add_to_lists?: string[];
  remove_from_lists?: string[];
}

/** Subscribers that are none of this company's. */
export async function subscriberIdFaults(companyId: string, ids: readonly string[]): Promise<FieldErrors> {
  const sentences = await missing("subscribers", companyId, ids);
  return sentences.length > 0 ? { subscriber_ids: sentences } : {};
}

/** Ids that are none of this company's, in those fields that are isValid. */
export async function bulkErrors(companyId: string, given: BulkLists, isValid: (field: keyof BulkLists) => boolean) {
  const faults = isValid("subscriber_ids") ? await subscriberIdFaults(companyId, given.subscriber_ids) : {};
  for (const field of ["add_to_lists", "remove_from_lists"] as const) {
    if (isValid(field)) Object.assign(faults, await listErrors(companyId, field, given[field] ?? []));
  }
  return faults;
}

/** A list named in both ends up with all of them on it. */
export function updateLists(companyId: string, given: BulkLists) {
  const { subscriber_ids, add_to_lists = [], remove_from_lists = [] } = given;
  const leave = remove_from_lists.filter((id) => !add_to_lists.includes(id));
  return transaction(async (client) => {
    const removed = leave.length > 0 ? await removeFromLists(client, companyId, subscriber_ids, leave) : [];
    const added = add_to_lists.length > 0 ? await addToLists(client, companyId, subscriber_ids, add_to_lists) : [];
    const changed = new Set([...added, ...removed].map((row) => row.subscriber_id));
    return { updated: changed.size, added: added.length, removed: removed.length };
  });
}
