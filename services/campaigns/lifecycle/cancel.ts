import { type CampaignRow, campaignView } from "../../../models/campaign.ts";
import { moveTo } from "../../../models/campaign-lifecycle.ts";
import { queryOne, transaction } from "../../../models/database/db.ts";
import { notFound, wrongState } from "../../lib/errors.ts";

/** Calls a scheduled campaign off. When its time comes at this very moment, one of the two wins and the other is told. */
export function cancel(companyId: string, campaignId: string) {
  return transaction(async (client) => {
    const read = "select * from campaigns where company_id = $1 and id = $2 for no key update";
    const campaign = await queryOne<CampaignRow>(read, [companyId, campaignId], client);
    if (!campaign) throw notFound();
    if (!(await moveTo(client, campaignId, "cancelled"))) {
      throw wrongState(`Only a scheduled campaign can be cancelled. This one is ${campaign.status}.`);
    }
    return campaignView((await queryOne<CampaignRow>(read, [companyId, campaignId], client))!);
  });
}
