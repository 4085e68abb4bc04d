/**
 * The emails that a company has sent in the current UTC month. Stands with the models because campaigns count them in the
 * transaction that writes the recipients.
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
