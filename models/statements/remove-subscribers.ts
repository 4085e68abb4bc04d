import { notFound } from "../../services/lib/errors.ts";
import { query } from "../database/db.ts";

// One statement, so one transaction: what was sent to them stays, without the link. Memberships go by a trigger.
const REMOVE = `
  with sent as (
    update sent_emails set subscriber_id = null where company_id = $1 and subscriber_id = any ($2::uuid[]))
  delete from subscribers where company_id = $1 and id = any ($2::uuid[]) returning id`;

/** Deletes for good and returns how many there were. */
export async function removeSubscribers(companyId: string, ids: readonly string[]): Promise<number> {
  return (await query(REMOVE, [companyId, ids])).length;
}

export async function removeSubscriber(companyId: string, id: string): Promise<null> {
  if ((await removeSubscribers(companyId, [id])) === 0) throw notFound();
  return null;
}
