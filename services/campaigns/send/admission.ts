/**
 * Checks whether a company may send this many emails, copies (cc, bcc) included: plan features, monthly quota and
 * hourly limit, in this order.
 */
import { type Client, queryOne } from "../../../models/database/db.ts";
import { call } from "../../call.ts";
import type { Ctx } from "../../lib/caller.ts";
import { config } from "../../lib/config.ts";
import { smtpRateLimited } from "../../lib/errors.ts";
import { firstIdAt } from "../../lib/ids.ts";

/** The senders enforce the hourly limit; this check only refuses early, so a missing answer does not stop a send. */
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
 * Throws 403 or 429. Returns the hour's usage if the senders answered. A scheduled send is not checked, because it is
 * throttled when it is due.
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

// Limits the latest campaigns that are read for companies that send one email per request.
const MAX_CAMPAIGNS = 5_000;

// Failed messages are not counted: a campaign that the SMTP server refused must not block the next attempt.
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
 * Checks the hour again in the transaction that stores the campaign, which serializes concurrent sends. The senders
 * count messages sent or in progress; campaigns admitted a moment ago are added here, or a second send would not see
 * the first.
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
