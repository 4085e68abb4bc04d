/**
 * Whether a company may send this many emails, copies (cc, bcc) included: the plan's features, the monthly quota and the hourly limit, in this
 * order.
 */
import { type Client, queryOne } from "../../../models/database/db.ts";
import { call } from "../../call.ts";
import type { Ctx } from "../../lib/caller.ts";
import { config } from "../../lib/config.ts";
import { smtpRateLimited } from "../../lib/errors.ts";
import { firstIdAt } from "../../lib/ids.ts";

/** The senders enforce the hour in any case; here it only gives an early refusal, so a missing answer stops no send. */
const ANSWER_MS = 700;

interface HourlyUsage {
  limit: number | null;
  used: number;
  retry_after_seconds: number;
}

interface Requested {
  emails: number;
  scheduledFor: Date | null;
  toSegment: boolean;
}

/**
 * Throws 403 or 429. Returns the hour's usage as the senders know it, if they answered. A scheduled send is not checked
 * against this hour: it is paced when it is due.
 */
export async function admit(
  ctx: Ctx,
  { emails, scheduledFor, toSegment }: Requested,
): Promise<HourlyUsage | undefined> {
  if (scheduledFor) await call(ctx, "accounts.requireFeature", { feature: "scheduled_campaigns" });
  if (toSegment) await call(ctx, "accounts.requireFeature", { feature: "segments" });
  await call(ctx, "accounts.admitEmails", { emails, due: scheduledFor?.toISOString() ?? null });
  if (scheduledFor) return undefined;
  const hour = await hourlyUsage(ctx);
  if (hour) requireHourlyRoom(emails, hour);
  return hour;
}

const hourlyUsage = (ctx: Ctx): Promise<HourlyUsage | undefined> =>
  call(ctx, "smtp-sender.hourRoom", {}, { timeout: ANSWER_MS, retries: 2 }).catch((error: Error) => {
    ctx.broker.logger.warn(`The hourly limit could not be checked, so the send is admitted: ${error.message}`);
    return undefined;
  });

// For a company that sends one mail per request, reading its latest campaigns must stay a matter of a few milliseconds.
const MAX_CAMPAIGNS = 5_000;

// Failed mail is not counted: a campaign that its SMTP server refused must not block the next attempt.
const ADMITTED = `
  select coalesce(sum(greatest(total_emails + copies_asked - failed_count, 0)), 0)::bigint as emails
  from (
    select total_emails, copies_asked, failed_count from campaigns
    where company_id = $1 and id >= $2 and not is_internal and scheduled_for is null
    order by id desc limit ${MAX_CAMPAIGNS}) latest`;

function requireHourlyRoom(emails: number, { limit, used, retry_after_seconds }: HourlyUsage): void {
  if (limit === null || used + emails <= limit) return;
  const room = Math.max(0, limit - used);
  const message = `This send has ${emails} emails, and ${room} of ${limit} emails are left in this hour.`;
  throw smtpRateLimited(message, retry_after_seconds);
}

/**
 * Checks the hour again in the transaction that stores the campaign: of two concurrent sends the second waits for the
 * first. The senders count mail that has left or is about to; what was admitted a moment ago and still waits is added
 * here, or a second send right after the first would find the hour untouched.
 */
export async function requireHourlyRoomWithin(
  client: Client,
  companyId: string,
  emails: number,
  hour: HourlyUsage,
): Promise<void> {
  if (hour.limit === null) return;
  await client.query("select from companies where id = $1 for no key update", [companyId]);
  const since = firstIdAt(Date.now() - config().LIMIT_WINDOW_SECONDS * 1_000);
  const admitted = await queryOne<{ emails: number }>(ADMITTED, [companyId, since], client);
  requireHourlyRoom(emails, { ...hour, used: Math.max(hour.used, admitted!.emails) });
}
