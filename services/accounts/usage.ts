/** What a company has used of its plan: mails of the UTC month in the database, API calls of the UTC day in the counters. */
import { type Queryable, query, queryOne } from "../../models/db.ts";
import type { Caller } from "../define.ts";

/** Adds primary recipients to the month's usage; a negative number gives back what was not needed. */
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

const DAY_SECONDS = 86_400;

/** The counter of a caller's API calls today: per key, or per company for people; and how long it is needed. */
export function apiCallsToday(caller: Caller, nowMs = Date.now()): { key: string; secondsLeft: number } {
  const day = new Date(nowMs).toISOString().slice(0, 10);
  const secondsLeft = DAY_SECONDS - Math.floor((nowMs / 1_000) % DAY_SECONDS);
  return { key: `api-calls:${caller.apiKeyId ?? caller.companyId}:${day}`, secondsLeft };
}
