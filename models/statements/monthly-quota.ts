/**
 * Enforces the monthly quota of emails, including copies (cc, bcc). They are charged when recipients are written, to the
 * current month (services/campaigns/expansion/expand.ts). A send is refused if the month's charges plus the unwritten
 * recipients of admitted campaigns leave no capacity: without the latter a second send would find the quota untouched.
 * Part of the models because campaigns check it in the transaction that stores a campaign.
 */
import { emailQuotaExceeded } from "../../services/lib/errors.ts";
import { type Client, type Queryable, query, queryOne } from "../database/db.ts";
import { addEmails } from "./plan-usage.ts";

// Uses one statement, so that a slice written concurrently is counted once, as admitted or as written. A late campaign
// is written today, so it counts towards this month.
const MONTH_OF = (time: string) => `date_trunc('month', greatest(${time}, now()) at time zone 'utc')`;
// Once a slice is written, its receivers' copies are counted there.
const COPIES_AHEAD = `case when copies_asked = 0 or next_seq = 1 then copies_asked else coalesce((
    select sum(copies_of(r.cc, r.bcc)) from campaign_receivers r
    where r.company_id = c.company_id and r.campaign_id = c.id and r.no > coalesce(c.expand_cursor, '0')::integer), 0) end`;
const USED = `
  with month as (select ${MONTH_OF("$2::timestamptz")} as start)
  select coalesce((select emails from usage_months where company_id = $1 and month = month.start), 0)
    + coalesce((
      select sum(greatest(total_emails - (next_seq - 1), 0) + ${COPIES_AHEAD}) from campaigns c
      where company_id = $1 and status in ('pending', 'sending', 'scheduled') and expanded_at is null
        and ${MONTH_OF("coalesce(starts_at, scheduled_for)")} = month.start), 0)::bigint as emails
  from month`;

/** Throws 403 if this many more emails, due then (null: now), would exceed the limit. */
export async function requireQuota(
  { companyId, emails, due }: { companyId: string; emails: number; due: Date | null },
  limit: number,
  client?: Queryable,
): Promise<void> {
  const used = await queryOne<{ emails: number }>(USED, [companyId, due], client);
  if (used!.emails + emails > limit) throw emailQuotaExceeded(limit);
}

const LIMIT = `
  select p.emails_per_month as "limit" from companies c join plans p on p.name = c.plan where c.id = $1`;

/**
 * Repeats the check in the transaction that stores the campaign: of two concurrent sends the second waits for the
 * first, so that both together never exceed the quota. Companies without a quota take no lock.
 */
export async function requireQuotaWithin(
  client: Client,
  companyId: string,
  emails: number,
  due: Date | null = null,
): Promise<void> {
  const plan = await queryOne<{ limit: number | null }>(LIMIT, [companyId], client);
  if (!plan || plan.limit === null) return;
  await query("select from companies where id = $1 for no key update", [companyId], client);
  await requireQuota({ companyId, emails, due }, plan.limit, client);
}

/** Remaining quota of this month. */
export interface MonthRoom {
  limit: number | null;
  mails: number;
}

/** Enough for any slice. */
const NO_LIMIT = 2 ** 31;

const ROOM = `
  select p.emails_per_month as "limit", coalesce(u.emails, 0) as emails
  from companies c join plans p on p.name = c.plan
  left join usage_months u on u.company_id = c.id and u.month = date_trunc('month', now() at time zone 'utc')
  where c.id = $1`;

export async function roomThisMonth(client: Client, companyId: string): Promise<MonthRoom> {
  const plan = await queryOne<{ limit: number | null; emails: number }>(ROOM, [companyId], client);
  if (!plan || plan.limit === null) return { limit: null, mails: NO_LIMIT };
  return { limit: plan.limit, mails: Math.max(0, plan.limit - plan.emails) };
}

/**
 * Error if another campaign has charged emails since the remaining quota was read: rows written for it must be rolled
 * back.
 */
export class RoomWasTaken extends Error {}

export async function chargeMonth(client: Client, companyId: string, mails: number, room: MonthRoom): Promise<void> {
  if (!(await addEmails(client, companyId, mails, room.limit)))
    throw new RoomWasTaken("The monthly quota was used up.");
}
