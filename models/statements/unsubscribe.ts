/**
 * Unsubscribing and resubscribing, by one-click, page, preferences or confirmation. Stands with the models because the
 * suppression and the subscriber must change together with the event that tracking records.
 */
import { type Queryable, queryOne } from "../database/db.ts";

// A stronger block stays as it is. A repetition changes nothing.
const UNSUBSCRIBE = `
  with blocked as (
    insert into suppressions (company_id, email, kind, reason) values ($1, $2, 'unsubscribed', $3)
    on conflict (company_id, email_key) where email_key is not null do nothing
    returning 1),
  marked as (
    update subscribers set status = 'unsubscribed', updated_at = now()
    where company_id = $1 and email_key = address_key($2) and status in ('active', 'unconfirmed')
    returning 1)
  select exists (select 1 from blocked) or exists (select 1 from marked) as first`;

/** True the first time: only then is the event recorded, in the same transaction. */
export async function markUnsubscribed(
  on: Queryable,
  { companyId, email, reason = "" }: { companyId: string; email: string; reason?: string },
): Promise<boolean> {
  return (await queryOne<{ first: boolean }>(UNSUBSCRIBE, [companyId, email, reason], on))?.first ?? false;
}

// A subscriber can undo only their own unsubscribe: never a bounce, a complaint or the company's own block.
const RESUBSCRIBE = `
  with lifted as (
    delete from suppressions where company_id = $1 and email_key = address_key($2) and kind = 'unsubscribed' returning 1),
  marked as (
    update subscribers set status = 'active', updated_at = now()
    where company_id = $1 and email_key = address_key($2) and status in ('unsubscribed', 'unconfirmed')
    returning 1)
  select exists (select 1 from lifted) or exists (select 1 from marked) as changed`;

/** The subscriber wants mail again (subscribed, confirmed, or chose so on the preferences page). True if that changed anything. */
export async function markResubscribed(
  on: Queryable,
  { companyId, email }: { companyId: string; email: string },
): Promise<boolean> {
  return (await queryOne<{ changed: boolean }>(RESUBSCRIBE, [companyId, email], on))?.changed ?? false;
}
