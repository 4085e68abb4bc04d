/** May this company send this much now? The plan's features, the month's quota, the hour's room, in this order. */
import { call } from "../../call.ts";
import type { Ctx } from "../../lib/caller.ts";
import { type Hour, requireRoom } from "./hour.ts";

/** The hour is a courtesy at this point, senders keep it in any case: an answer that does not come stops no send. */
const PATIENCE_MS = 700;

export interface Asked {
  emails: number;
  scheduledFor: Date | null;
  toSegment: boolean;
}

/**
 * Throws 403 or 429. A scheduled send is not held against this hour: it is paced when it is due. For any other, the hour as
 * the senders know it, where they could be asked.
 */
export async function admit(ctx: Ctx, { emails, scheduledFor, toSegment }: Asked): Promise<Hour | undefined> {
  if (scheduledFor) await call(ctx, "accounts.requireFeature", { feature: "scheduled_campaigns" });
  if (toSegment) await call(ctx, "accounts.requireFeature", { feature: "segments" });
  await call(ctx, "accounts.admitEmails", { emails });
  if (scheduledFor) return undefined;
  const hour = await hourOf(ctx);
  if (hour) requireRoom(emails, hour);
  return hour;
}

const hourOf = (ctx: Ctx): Promise<Hour | undefined> =>
  call(ctx, "smtp-sender.hourRoom", {}, { timeout: PATIENCE_MS, retries: 2 }).catch((error: Error) => {
    ctx.broker.logger.warn(`The room in the hour is not known, so the send is let through: ${error.message}`);
    return undefined;
  });
