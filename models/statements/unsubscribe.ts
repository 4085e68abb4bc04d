/**
 * Unsubscribes and resubscribes people, by one-click, page, preferences or confirmation. Part of the models because the
 * suppression and the subscriber must change together with the event that tracking records.
 */
import { type Queryable, queryOne } from "../database/db.ts";

// A stronger block is kept. Idempotent. An email to a subscriber's former address still belongs to them, unless the
// address is somebody else's now.
const UNSUBSCRIBE = `
  with addresses as (
    select $2::text as email, address_key($2) as email_key
    union
    select s.email, s.email_key
    from former_addresses f join subscribers s on s.company_id = $1 and s.id = f.subscriber_id
    where f.company_id = $1 and f.email_key = address_key($2)
      and not exists (select from subscribers t where t.company_id = $1 and t.email_key = address_key($2))),
  blocked as (
    insert into suppressions (company_id, email, kind, reason)
    select $1, email, 'unsubscribed', $3 from addresses order by email_key
    on conflict (company_id, email_key) where email_key is not null do nothing
    returning 1),
  marked as (
    update subscribers set status = 'unsubscribed', updated_at = now()
    where company_id = $1 and email_key in (select email_key from addresses) and status in ('active', 'unconfirmed')
    returning 1)
  select exists (select 1 from blocked) or exists (select 1 from marked) as first`;

/** True the first time: only then is the event recorded, in the same transaction. */
export async function markUnsubscribed(
  client: Queryable,
  { companyId, email, reason = "" }: { companyId: string; email: string; reason?: string },
): Promise<boolean> {
  return (await queryOne<{ first: boolean }>(UNSUBSCRIBE, [companyId, email, reason], client))?.first ?? false;
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
  client: Queryable,
  { companyId, email }: { companyId: string; email: string },
): Promise<boolean> {
  return (await queryOne<{ changed: boolean }>(RESUBSCRIBE, [companyId, email], client))?.changed ?? false;
}
