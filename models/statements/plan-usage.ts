/**
 * What a company has used of its plan, read from counters where there are any. Tables of several services: subscribers, mails,
 * files and the month's usage.
 */
import { type Queryable, query, queryOne } from "../database/db.ts";

/** Adds primary recipients to the month's usage; a negative number returns what was not needed. */
export async function addEmails(client: Queryable, companyId: string, n: number): Promise<void> {
  if (n === 0) return;
  await query(
    `insert into usage_months as u (company_id, month, emails)
     values ($1, date_trunc('month', now() at time zone 'utc'), greatest($2, 0))
     on conflict (company_id, month) do update set emails = greatest(u.emails + $2, 0)`,
    [companyId, n],
    client,
  );
}

export async function emailsThisMonth(companyId: string, client?: Queryable): Promise<number> {
  const row = await queryOne<{ emails: number }>(
    "select emails from usage_months where company_id = $1 and month = date_trunc('month', now() at time zone 'utc')",
    [companyId],
    client,
  );
  return row?.emails ?? 0;
}

export async function subscribersOf(companyId: string): Promise<number> {
  return (await queryOne<{ n: number }>("select count_of($1, 'subscribers', $1) n", [companyId]))!.n;
}

/** Of all files that are stored: also those that are being uploaded, and deleted ones that a campaign may still send. */
export async function mediaBytesOf(companyId: string, client?: Queryable): Promise<number> {
  const sum = "select coalesce(sum(size), 0)::bigint n from media where company_id = $1";
  return (await queryOne<{ n: number }>(sum, [companyId], client))!.n;
}

/** Counts rows: only for when no sender answers, who keep the number. */
export async function sentInTheLastHour(companyId: string): Promise<number> {
  const sent = await queryOne<{ n: number }>(
    "select count(*) n from sent_emails where company_id = $1 and sent_at > now() - interval '1 hour'",
    [companyId],
  );
  return sent!.n;
}
