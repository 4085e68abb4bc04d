/**
 * The monthly quota. Used are the recipients written this month, and those that admitted campaigns have still to write:
 * without the latter a second send right after the first would find the quota untouched. Stands with the models because
 * campaigns check it in the transaction that stores a campaign.
 */
import { emailQuotaExceeded } from "../../services/lib/errors.ts";
import { type Client, type Queryable, query, queryOne } from "../database/db.ts";

// One statement: a slice written concurrently is counted once, as admitted or as written.
const USED = `
  with month as (select date_trunc('month', now() at time zone 'utc') as start)
  select coalesce((select emails from usage_months where company_id = $1 and month = month.start), 0)
    + coalesce((
      select sum(greatest(total_emails - (next_seq - 1), 0)) from campaigns
      where company_id = $1 and status in ('pending', 'sending', 'scheduled') and expanded_at is null
        and coalesce(scheduled_for, now()) < (month.start + interval '1 month') at time zone 'utc'), 0)::bigint as emails
  from month`;

/** Throws 403 if this many more emails would exceed the limit. */
export async function requireQuota(companyId: string, emails: number, limit: number, on?: Queryable): Promise<void> {
  const used = await queryOne<{ emails: number }>(USED, [companyId], on);
  if (used!.emails + emails > limit) throw emailQuotaExceeded(limit);
}

const LIMIT = `
  select p.emails_per_month as "limit" from companies c join plans p on p.name = c.plan where c.id = $1`;

/**
 * The same check in the transaction that stores the campaign: of two concurrent sends the second waits for the first, so
 * that both together never exceed the quota. Companies without a quota take no lock.
 */
export async function requireQuotaWithin(client: Client, companyId: string, emails: number): Promise<void> {
  const plan = await queryOne<{ limit: number | null }>(LIMIT, [companyId], client);
  if (!plan || plan.limit === null) return;
  await query("select from companies where id = $1 for no key update", [companyId], client);
  await requireQuota(companyId, emails, plan.limit, client);
}
