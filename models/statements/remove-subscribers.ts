/**
 * Deletes subscribers for good. Stands with the models because sent mail must lose its link to them in the same
 * transaction: a link to a deleted subscriber would count as a person who can still be looked up.
 */
import { query } from "../database/db.ts";

// Sent mail stays, without the link. Memberships are removed by a trigger.
const REMOVE = `
  with sent as (
    update sent_emails set subscriber_id = null where company_id = $1 and subscriber_id = any ($2::uuid[]))
  delete from subscribers where company_id = $1 and id = any ($2::uuid[]) returning id`;

/** Returns how many were deleted. */
export async function removeSubscribers(companyId: string, ids: readonly string[]): Promise<number> {
  return (await query(REMOVE, [companyId, ids])).length;
}
