/**
 * Stops a campaign: its error says who stopped it, and senders release what they have claimed within a second; messages
 * being handed over are finished. Recipients that were not attempted count as failed and can be resumed.
 */
import type { CampaignRow } from "../../../models/campaign.ts";
import { queryOne, transaction } from "../../../models/database/db.ts";
import { auditWithin, type LoggedActor } from "../../../models/statements/audit-log.ts";
import { findCampaign, holdCampaign } from "../../../models/statements/read-campaign.ts";
import { broadcast, emitAndForget } from "../../call.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { notFound, wrongState } from "../../lib/errors.ts";

/** If an error stopped it a moment ago, that error stays. */
const STOP = `
  update campaigns set error = $3, stopped_at = now(), updated_at = now()
  where company_id = $1 and id = $2 and error is null`;

const inWords = ({ actor_type: type, actor_name: name }: LoggedActor): string =>
  type === "operator" ? "the operator" : type === "api_key" ? `the API key "${name}"` : name;

export async function stop(ctx: Ctx, companyId: string, campaignId: string) {
  const stopped = await transaction(async (client) => {
    const campaign = await holdCampaign<CampaignRow>(client, companyId, campaignId);
    if (!campaign) throw notFound();
    if (campaign.status !== "pending" && campaign.status !== "sending") {
      throw wrongState(`Only a campaign that is pending or being sent can be stopped. This one is ${campaign.status}.`);
    }
    const actor = await auditWithin(client, companyId, ctx.meta, { action: "campaign.stopped", target: campaignId });
    await client.query(STOP, [companyId, campaignId, `Stopped by ${inWords(actor)}.`]);
    return (await findCampaign(companyId, campaignId, { on: client }))!;
  });
  ctx.broker.logger.info({ campaignId, companyId }, "Campaign stopped");
  // If the broadcast is lost, senders notice the stop within a second.
  broadcast(ctx, "campaign.stopped", { campaignId }).catch(() => {});
  // If no sender has begun, the campaign is settled at once.
  emitAndForget(ctx, "campaign.drained", { campaignId });
  return stopped;
}

export const stopOwn = (ctx: Ctx<{ id: string }>) => stop(ctx, companyOf(ctx), ctx.params.id);

/** Variant for operators, who know the campaign but not its company. */
export async function stopAny(ctx: Ctx<{ campaign_id: string }>) {
  const { campaign_id: id } = ctx.params;
  const found = await queryOne<{ company_id: string }>("select company_id from campaigns where id = $1", [id]);
  if (!found) throw notFound();
  return stop(ctx, found.company_id, id);
}
