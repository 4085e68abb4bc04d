/** One campaign: progress, results and operations. */
import { isFinished } from "../../../models/campaign.ts";
import type { ReturnsOf } from "../../contracts.ts";
import { messages } from "../messages.ts";
import { plotOf } from "../plot.ts";
import { type Answer, type CompanyVisit, callIn, callUnder, may } from "../request.ts";
import { timelineOf } from "../timeline.ts";
import { operationsOf } from "./campaign-operations.ts";
import { outcomeOf, retryableIn } from "./campaign-outcome.ts";
import { campaignId, campaignPath, tabsOf } from "./campaign-place.ts";

type Analytics = ReturnsOf<"tracking.analytics">;
type Campaign = ReturnsOf<"campaigns.get">;

const t = messages.campaigns;

async function plotIn(visit: CompanyVisit, { timeline }: Analytics) {
  const instants = timeline.map(({ at }) => at);
  const { clocks } = await callUnder(visit, "accounts.clocksAt", { instants });
  const found = timelineOf(timeline.map((hit, n) => ({ ...hit, clock: clocks[n]! })));
  if (!found) return undefined;
  const { step, dates, opens, clicks } = found;
  return plotOf(t.overTime[step], dates, { [t.opens]: opens, [t.clicks]: clicks }, { unit: t.steps[step] });
}

/** Variants of an A/B test with their results; empty if the campaign has none. */
function variantsOf({ variants, winner }: Campaign, { variants: results }: Analytics) {
  return variants.map((variant) => ({
    ...variant,
    name: t.variantName(variant.index),
    isWinner: winner?.index === variant.index,
    ...(results.find(({ index }) => index === variant.index) ?? { sent: 0, opens: 0, clicks: 0 }),
  }));
}

export async function campaignPage(visit: CompanyVisit): Promise<Answer> {
  const id = campaignId(visit);
  const [campaign, analytics] = await Promise.all([
    callIn(visit, "campaigns.get", { id }),
    callIn(visit, "tracking.analytics", { id }),
  ]);
  const retryable = await retryableIn(visit, campaign);
  return {
    view: "campaign",
    title: campaign.name,
    values: {
      campaign,
      analytics,
      outcome: outcomeOf(campaign, analytics, retryable),
      now: new Date().toISOString(),
      here: campaignPath(visit),
      tabs: tabsOf(visit, ""),
      isLive: !isFinished(campaign.status),
      plot: await plotIn(visit, analytics),
      variants: variantsOf(campaign, analytics),
      operations: operationsOf(visit, campaign, retryable),
      mayExport: may(visit, "campaigns.export"),
      mayEdit: campaign.status === "scheduled" && may(visit, "campaigns.update"),
    },
  };
}
