/**
 * Retries recipients that failed or are in doubt (possibly sent); those that were sent to, bounced or are suppressed
 * stay as they are.
 *
 * The campaign becomes pending at once and its chunks are requeued in slices: the first within the request, so that
 * small campaigns are done when it is answered, the others by the expansion queue (`requeue_from`). `expanded_at` stays
 * null until the last slice, so that a half-requeued campaign is never settled, and longer if the audience was not
 * completely written (a cursor is left, or the quota was used up): expansion then continues.
 */
import type { CampaignRow } from "../../../models/campaign.ts";
import { moveTo } from "../../../models/campaign-lifecycle.ts";
import { type Client, transaction } from "../../../models/database/db.ts";
import { auditWithin } from "../../../models/statements/audit-log.ts";
import { restartWait } from "../../../models/statements/decide-winner.ts";
import { findCampaign, holdCampaign } from "../../../models/statements/read-campaign.ts";
import { hasUnknown, requeueSlice } from "../../../models/statements/requeue-recipients.ts";
import { emitAndForget } from "../../call.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { notFound, wrongState } from "../../lib/errors.ts";

interface Read extends CampaignRow {
  recipients_state: string;
}

export type Resumable = Pick<Read, "id" | "status" | "recipients_state" | "sent_count">;

/** Returns the sentence with which a resume is refused; undefined if it is possible. */
export async function whyNotResumable(
  client: Client,
  { id, status, recipients_state, sent_count }: Resumable,
  companyId: string,
): Promise<string | undefined> {
  if (status !== "partial" && status !== "failed")
    return `Only a partial or failed campaign can be resumed. This one is ${status}.`;
  if (recipients_state !== "kept")
    return "The recipients of this campaign are no longer kept, so it cannot be resumed.";
  if (status === "partial" || sent_count > 0 || (await hasUnknown(client, companyId, id))) return undefined;
  return "This campaign failed before any email was sent, so it cannot be resumed.";
}

export async function resume(ctx: Ctx, campaignId: string) {
  const companyId = companyOf(ctx);
  const campaign = await transaction(async (client) => {
    const before = await holdCampaign<Read>(client, companyId, campaignId);
    if (!before) throw notFound();
    const reason = await whyNotResumable(client, before, companyId);
    if (reason !== undefined) throw wrongState(reason);
    await moveTo(client, campaignId, "pending");
    await client.query(
      `update campaigns set error = null, stopped_at = null, blocks_in_a_row = 0, repeated_refusal = null, expanded_at = null, requeue_from = 1,
         hard_bounces = 0, complaints = 0, guard_from = sent_count + tried_unsent, guard_since = now(), guard_stopped = false, restored = false,
         failed_count = failed_count - unwritten, unwritten = 0
       where company_id = $1 and id = $2`,
      [companyId, campaignId],
    );
    await restartWait(client, companyId, campaignId);
    await auditWithin(client, companyId, ctx.meta, { action: "campaign.resumed", target: campaignId });
    await requeueSlice(client, { id: campaignId, company_id: companyId, requeue_from: 1 });
    return (await findCampaign(companyId, campaignId, { on: client }))!;
  });
  emitAndForget(ctx, "campaign.queued", { campaignId, companyId });
  emitAndForget(ctx, "campaign.pending", { campaignId });
  return campaign;
}
