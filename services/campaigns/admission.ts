/** May this company send this much now? The plan's features, the month's quota, the hour's room, in this order. */
import { call } from "../call.ts";
import type { Ctx } from "../define.ts";
import { smtpRateLimited } from "../errors.ts";

/** The hour is a courtesy at this point, senders keep it in any case: an answer that does not come stops no send. */
const PATIENCE_MS = 700;

export interface Asked {
  emails: number;
  scheduledFor: Date | null;
  toSegment: boolean;
}

/** Throws 403 or 429. A scheduled send is not held against this hour: it is paced when it is due. */
export async function admit(ctx: Ctx, { emails, scheduledFor, toSegment }: Asked): Promise<void> {
  if (scheduledFor) await call(ctx, "accounts.requireFeature", { feature: "scheduled_campaigns" });
  if (toSegment) await call(ctx, "accounts.requireFeature", { feature: "segments" });
  await call(ctx, "accounts.admitEmails", { emails });
  if (!scheduledFor) await requireRoom(ctx, emails);
}

async function requireRoom(ctx: Ctx, emails: number): Promise<void> {
  const hour = await call(ctx, "smtp-sender.hourRoom", {}, { timeout: PATIENCE_MS, retries: 2 }).catch(
    (error: Error) => {
      ctx.broker.logger.warn(`The room in the hour is not known, so the send is let through: ${error.message}`);
    },
  );
  if (!hour || hour.limit === null || hour.room === null || emails <= hour.room) return;
  throw smtpRateLimited(
    `This send has ${emails} recipients, and ${hour.room} of ${hour.limit} emails are left in this hour.`,
    hour.retry_after_seconds,
  );
}
