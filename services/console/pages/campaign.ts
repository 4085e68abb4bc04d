/** One campaign: how far it is, what came of it, what can be done with it. */
import { isOver } from "../../../models/campaign.ts";
import type { ReturnsOf } from "../../contracts.ts";
import { notFound } from "../../lib/errors.ts";
import { isUuid } from "../../lib/ids.ts";
import { messages } from "../messages.ts";
import { plotOf } from "../plot.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, may } from "../request.ts";
import { timelineOf } from "../timeline.ts";
import { operationsOf } from "./campaign-operations.ts";

type Analytics = ReturnsOf<"tracking.analytics">;
type Campaign = ReturnsOf<"campaigns.get">;

const t = messages.campaigns;

export const campaignPath = (visit: CompanyVisit, rest = ""): string =>
  companyPath(visit, `campaigns/${visit.params.id}${rest && `/${rest}`}`);

/** The pages of one campaign. */
export function tabsOf(visit: CompanyVisit, current: "" | "recipients" | "mail") {
  return (["", "recipients", "mail"] as const).map((rest) => ({
    label: t.tabs[rest],
    href: campaignPath(visit, rest),
    current: rest === current,
  }));
}

function plotIn({ timeline }: Analytics) {
  const found = timelineOf(timeline);
  if (!found) return undefined;
  const { step, dates, opens, clicks } = found;
  return plotOf(t.overTime[step], dates, { [t.opens]: opens, [t.clicks]: clicks }, t.steps[step]);
}

/** What was compared, with what came of each; empty where nothing was. */
function variantsOf({ variants, winner }: Campaign, { variants: results }: Analytics) {
  return variants.map((variant) => ({
    ...variant,
    name: t.variantName(variant.index),
    isWinner: winner?.index === variant.index,
    ...(results.find(({ index }) => index === variant.index) ?? { sent: 0, opens: 0, clicks: 0 }),
  }));
}

export async function campaignPage(visit: CompanyVisit): Promise<Answer> {
  const { id = "" } = visit.params;
  if (!isUuid(id)) throw notFound();
  const [campaign, analytics] = await Promise.all([
    callIn(visit, "campaigns.get", { id }),
    callIn(visit, "tracking.analytics", { id }),
  ]);
  return {
    view: "campaign",
    title: campaign.name,
    values: {
      campaign,
      analytics,
      now: new Date().toISOString(),
      here: campaignPath(visit),
      tabs: tabsOf(visit, ""),
      isLive: !isOver(campaign.status),
      plot: plotIn(analytics),
      variants: variantsOf(campaign, analytics),
      operations: operationsOf(visit, campaign),
      mayExport: may(visit, "campaigns.export"),
      mayEdit: campaign.status === "scheduled" && may(visit, "campaigns.update"),
    },
  };
}
