/** May this company send this much now? The plan's features, the month's quota, the hour's room, in this order. */
import { call } from "../call.ts";
import type { Ctx } from "../define.ts";
import { smtpRateLimited } from "../errors.ts";

export interface Asked {
  emails: number;
  scheduledFor: Date | null;
}

/** Throws 403 or 429. A scheduled send is not held against this hour: it is paced when it is due. */
export async function admit(ctx: Ctx, { emails, scheduledFor }: Asked): Promise<void> {
  if (scheduledFor) await call(ctx, "accounts.requireFeature", { feature: "scheduled_campaigns" });
  await call(ctx, "accounts.admitEmails", { emails });
  if (scheduledFor) return;
  const { limit, room, retry_after_seconds } = await call(ctx, "smtp-sender.hourRoom", {});
  if (limit === null || room === null || emails <= room) return;
  throw smtpRateLimited(
    `This send has ${emails} recipients, and ${room} of ${limit} emails are left in this hour.`,
    retry_after_seconds,
  );
}
