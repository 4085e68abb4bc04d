/**
 * Starts scheduled campaigns when due, or cancels them before. Campaigns in recipients' time zones start in
 * start-by-zone.ts; after that, the hours of their next recipients are due here.
 *
 * The time is stored only in the row: every 0.75 seconds, or 1.5 while nothing is due (SCHEDULE_PAUSE_MS in
 * campaigns.service.ts), each node looks for rows whose time has passed. After a downtime, all missed campaigns start
 * at once.
 */
import type { ServiceBroker } from "moleculer";
import type { CampaignRow } from "../../../models/campaign.ts";
import { moveTo } from "../../../models/campaign-lifecycle.ts";
import { query, queryOne, transaction } from "../../../models/database/db.ts";
import { auditWithin } from "../../../models/statements/audit-log.ts";
import { findCampaign, holdCampaign } from "../../../models/statements/read-campaign.ts";
import { emitAndForget } from "../../call.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { notFound, wrongState } from "../../lib/errors.ts";
import { releaseDueChunks } from "../expansion/release-due-chunks.ts";

const STILL_DUE = `
  select from campaigns
  where company_id = $1 and id = $2 and status = 'scheduled' and scheduled_for <= now() for no key update`;

const IS_DUE = "status = 'scheduled' and starts_at is null and scheduled_for <= now()";

/** The campaign may have been rescheduled since it was found. */
const start = (companyId: string, id: string): Promise<boolean> =>
  transaction(
    async (client) =>
      (await queryOne(STILL_DUE, [companyId, id], client)) !== undefined && (await moveTo(client, id, "pending")),
  );

/** Starts due campaigns, each once on any number of nodes, because only one changes the row. */
export async function startDue(broker: ServiceBroker): Promise<number> {
  const due = await query<{ id: string; company_id: string }>(
    `select id, company_id from campaigns where ${IS_DUE} order by scheduled_for limit 500`,
  );
  let started = 0;
  for (const { id, company_id } of due) {
    if (!(await start(company_id, id))) continue;
    started += 1;
    broker.logger.info({ campaignId: id, companyId: company_id }, "Campaign started");
    emitAndForget(broker, "campaign.pending", { campaignId: id });
  }
  for (const { campaign_id: campaignId, company_id: companyId, recipients } of await releaseDueChunks()) {
    broker.logger.info({ campaignId, companyId, recipients }, "Recipients released at their local hour");
    emitAndForget(broker, "campaign.queued", { campaignId, companyId });
  }
  return started;
}

/** Cancels a scheduled campaign. If it becomes due at the same time, either the start or the cancellation wins. */
export function cancel(ctx: Ctx<{ id: string }>) {
  const companyId = companyOf(ctx);
  const campaignId = ctx.params.id;
  return transaction(async (client) => {
    const campaign = await holdCampaign<CampaignRow>(client, companyId, campaignId);
    if (!campaign) throw notFound();
    if (campaign.status !== "scheduled" || !(await moveTo(client, campaignId, "cancelled"))) {
      throw wrongState(`Only a scheduled campaign can be cancelled. This one is ${campaign.status}.`);
    }
    await auditWithin(client, companyId, ctx.meta, { action: "campaign.cancelled", target: campaignId });
    return (await findCampaign(companyId, campaignId, { on: client }))!;
  });
}
