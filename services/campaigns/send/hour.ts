/**
 * The hour's room at a send. The senders' count is of mails that have left or are about to; what was admitted a moment ago
 * and waits behind it is counted here, or a second send right after the first would find the hour untouched.
 */
import { type Client, queryOne } from "../../../models/database/db.ts";
import { config } from "../../lib/config.ts";
import { smtpRateLimited } from "../../lib/errors.ts";
import { firstIdAt } from "../../lib/ids.ts";

export interface Hour {
  limit: number | null;
  used: number;
  retry_after_seconds: number;
}

// A company that sends one mail per request: reading its latest campaigns must stay a matter of a few milliseconds.
const MAX_CAMPAIGNS = 5_000;

// What failed took no room or gave it back: a campaign that its server refused must not lock out the next try.
const ADMITTED = `
  select coalesce(sum(greatest(total_emails - failed_count, 0)), 0)::bigint as emails
  from (
    select total_emails, failed_count from campaigns
    where company_id = $1 and id >= $2 and not is_internal and scheduled_for is null
    order by id desc limit ${MAX_CAMPAIGNS}) latest`;

export function requireRoom(emails: number, { limit, used, retry_after_seconds }: Hour): void {
  if (limit === null || used + emails <= limit) return;
  const room = Math.max(0, limit - used);
  const message = `This send has ${emails} recipients, and ${room} of ${limit} emails are left in this hour.`;
  throw smtpRateLimited(message, retry_after_seconds);
}

/** In the transaction that stores the campaign: of two sends at one moment the second waits for the first. */
export async function requireRoomWithin(client: Client, companyId: string, emails: number, hour: Hour): Promise<void> {
  if (hour.limit === null) return;
  await client.query("select from companies where id = $1 for no key update", [companyId]);
  const since = firstIdAt(Date.now() - config().LIMIT_WINDOW_SECONDS * 1_000);
  const admitted = await queryOne<{ emails: number }>(ADMITTED, [companyId, since], client);
  requireRoom(emails, { ...hour, used: Math.max(hour.used, admitted!.emails) });
}
