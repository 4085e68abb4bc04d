/**
 * Deletes a finished campaign: hides it at once; its events and what recipients hold beyond the address are removed in
 * the background (empty-deleted.ts). Recipients themselves stay for the company's retention (retention.ts), because
 * links in their emails need them.
 */
import { type CampaignRow, isFinished } from "../../../models/campaign.ts";
import { query, transaction } from "../../../models/database/db.ts";
import { auditWithin } from "../../../models/statements/audit-log.ts";
import { holdCampaign } from "../../../models/statements/read-campaign.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { notFound, wrongState } from "../../lib/errors.ts";

/** Setting an error stops sending, whatever a cut-off sender reports later. */
const HIDE = `
  update campaigns set deleted_at = now(), error = coalesce(error, 'The campaign was deleted.'),
    recipients_state = case recipients_state when 'kept' then 'hidden' else recipients_state end
  where company_id = $1 and id = $2`;

interface Held extends CampaignRow {
  is_internal: boolean;
}

export function remove(ctx: Ctx<{ id: string }>): Promise<null> {
  const companyId = companyOf(ctx);
  const { id } = ctx.params;
  return transaction(async (client) => {
    const campaign = await holdCampaign<Held>(client, companyId, id);
    if (!campaign || campaign.is_internal) throw notFound();
    if (!isFinished(campaign.status)) {
      throw wrongState(`Only a finished campaign can be deleted. This one is ${campaign.status}.`);
    }
    await client.query(HIDE, [companyId, id]);
    await query("select add_count($1, 'campaigns', $1, -1)", [companyId], client);
    const detail = { name: campaign.name };
    await auditWithin(client, companyId, ctx.meta, { action: "campaign.deleted", target: id, detail });
    return null;
  });
}
