/**
 * Reads a company's usage of its plan, from counters if available. Covers tables of several services: subscribers,
 * emails, files and the monthly usage.
 */
import { type Queryable, query, queryOne } from "../database/db.ts";
import { samplePeopleOf } from "./sample-people.ts";

/**
 * Adds emails, including copies, to the month's usage; a negative number returns unused ones. False if that would exceed
 * the limit, and nothing was added.
 */
export async function addEmails(
  client: Queryable,
  companyId: string,
  n: number,
  limit: number | null = null,
): Promise<boolean> {
  if (n === 0) return true;
  const added = await query(
    `insert into usage_months as u (company_id, month, emails)
     values ($1, date_trunc('month', now() at time zone 'utc'), greatest($2, 0))
     on conflict (company_id, month) do update set emails = greatest(u.emails + $2, 0)
       where $3::bigint is null or u.emails + $2 <= $3
     returning 1`,
    [companyId, n, limit],
    client,
  );
  return added.length > 0;
}

export async function emailsThisMonth(companyId: string, client?: Queryable): Promise<number> {
  const row = await queryOne<{ emails: number }>(
    "select emails from usage_months where company_id = $1 and month = date_trunc('month', now() at time zone 'utc')",
    [companyId],
    client,
  );
  return row?.emails ?? 0;
}

/** Counts subscribers without sample people, which plans do not limit. */
export const countOfPeople = (company: string): string =>
  `select count_of(${company}, 'subscribers', ${company}) - ${samplePeopleOf(company)} n`;

export async function subscribersOf(companyId: string): Promise<number> {
  return (await queryOne<{ n: number }>(countOfPeople("$1"), [companyId]))!.n;
}

/** Size of all stored files, including running uploads and deleted files that a campaign may still send. */
export async function mediaBytesOf(companyId: string, client?: Queryable): Promise<number> {
  const sum = "select coalesce(sum(size), 0)::bigint n from media where company_id = $1";
  return (await queryOne<{ n: number }>(sum, [companyId], client))!.n;
}

/** Counts rows; only used if no sender, which know the number, answers. */
export async function sentInTheLastHour(companyId: string): Promise<number> {
  const sent = await queryOne<{ n: number }>(
    `select coalesce(sum(1 + copies_of(e.cc, e.bcc)), 0)::bigint n from campaigns c join sent_emails e on e.campaign_no = c.no
     where c.company_id = $1 and c.updated_at > now() - interval '1 hour' and e.sent_at > now() - interval '1 hour'`,
    [companyId],
  );
  return sent!.n;
}
