/**
 * Failure reasons and results per recipient domain of a campaign. Both are counted on request, so they are loaded
 * separately.
 */

import { messages } from "../messages.ts";
import { type Answer, type CompanyVisit, callIn } from "../request.ts";
import { campaignId, campaignPath } from "./campaign-place.ts";

export async function failuresPage(visit: CompanyVisit): Promise<Answer> {
  const id = campaignId(visit);
  const [campaign, failures] = await Promise.all([
    callIn(visit, "campaigns.get", { id }),
    callIn(visit, "campaigns.failures", { id }),
  ]);
  return {
    view: "campaign-failures",
    title: messages.campaigns.failuresOf(campaign.name),
    values: {
      failures,
      isEstimate: failures.some(({ estimated }) => estimated),
      campaignPath: campaignPath(visit),
      recipientPath: campaignPath(visit, "recipient"),
      recipientsPath: campaignPath(visit, "recipients"),
    },
  };
}

export async function campaignDomainsPage(visit: CompanyVisit): Promise<Answer> {
  const id = campaignId(visit);
  const [campaign, domains] = await Promise.all([
    callIn(visit, "campaigns.get", { id }),
    callIn(visit, "tracking.domainStats", { campaign: id }),
  ]);
  return {
    view: "campaign-domains",
    title: messages.campaigns.domainsOf(campaign.name),
    values: { domains, campaignPath: campaignPath(visit) },
  };
}
