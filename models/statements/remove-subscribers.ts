/**
 * Deletes subscribers permanently. Part of the models because sent email must lose its link to them in the same
 * transaction, so that none ever refers to a missing subscriber.
 */
import { type Queryable, query } from "../database/db.ts";

// Sent mail stays without the link and keeps the address; the trigger that removes memberships writes it.
const REMOVE = `
  delete from subscribers where company_id = $1 and id = any ($2::uuid[]) returning id`;

/** Returns the number of deleted subscribers. */
export async function removeSubscribers(
  companyId: string,
  ids: readonly string[],
  client?: Queryable,
): Promise<number> {
  return (await query(REMOVE, [companyId, ids], client)).length;
}
