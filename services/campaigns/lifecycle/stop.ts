/**
 * Stop: the campaign's error says who stopped it, and senders give up what they have claimed of it within a second (a mail
 * that is being handed over ends as it ends). Recipients that were not tried count as failed; resume sends them.
 */
import { type CampaignRow, campaignView } from "../../../models/campaign.ts";
import { type Client, queryOne, transaction } from "../../../models/database/db.ts";
import { auditWithin } from "../../../models/statements/audit-log.ts";
import { emitAndForget } from "../../call.ts";
import { type Caller, type Ctx, companyOf } from "../../lib/caller.ts";
import { notFound, wrongState } from "../../lib/errors.ts";

const READ = "select * from campaigns where company_id = $1 and id = $2 for no key update";

/** One that an error has stopped a moment ago stays stopped by that. */
const STOP = `
  update campaigns set error = $3, stopped_at = now(), updated_at = now()
  where company_id = $1 and id = $2 and error is null`;

async function nameOf(client: Client, companyId: string, { userId, apiKeyId }: Caller): Promise<string> {
  const found = await queryOne<{ name: string | null }>(
    `select coalesce((select email from users where id = $2),
       (select 'the API key "' || name || '"' from api_keys where company_id = $1 and id = $3)) as name`,
    [companyId, userId ?? null, apiKeyId ?? null],
    client,
  );
  return found?.name ?? "the operator";
}

export async function stop(ctx: Ctx, companyId: string, campaignId: string) {
  const stopped = await transaction(async (client) => {
    const campaign = await queryOne<CampaignRow>(READ, [companyId, campaignId], client);
    if (!campaign) throw notFound();
    if (campaign.status !== "pending" && campaign.status !== "sending") {
      throw wrongState(`Only a campaign that is pending or being sent can be stopped. This one is ${campaign.status}.`);
    }
    const error = `Stopped by ${await nameOf(client, companyId, ctx.meta)}.`;
    await client.query(STOP, [companyId, campaignId, error]);
    await auditWithin(client, companyId, ctx.meta, { action: "campaign.stopped", target: campaignId });
    return (await queryOne<CampaignRow>(READ, [companyId, campaignId], client))!;
  });
  ctx.broker.logger.info({ campaignId, companyId }, "Campaign stopped");
  // Where no sender has begun, it is settled at once.
  emitAndForget(ctx, "campaign.drained", { campaignId });
  return campaignView(stopped);
}

export const stopOwn = (ctx: Ctx<{ id: string }>) => stop(ctx, companyOf(ctx), ctx.params.id);

/** For operators, who know the campaign and not its company. */
export async function stopAny(ctx: Ctx<{ campaign_id: string }>) {
  const { campaign_id: id } = ctx.params;
  const found = await queryOne<{ company_id: string }>("select company_id from campaigns where id = $1", [id]);
  if (!found) throw notFound();
  return stop(ctx, found.company_id, id);
}
