/** One campaign: progress, results and operations. */
import { isFinished } from "../../../models/campaign.ts";
import type { ReturnsOf } from "../../contracts.ts";
import { isServiceError } from "../../lib/errors.ts";
import { messages } from "../messages.ts";
import { plotOf } from "../plot.ts";
import { type Answer, type CompanyVisit, callIn, callUnder, may } from "../request.ts";
import { timelineOf } from "../timeline.ts";
import { lengthOf } from "../times.ts";
import { operationsOf } from "./campaign-operations.ts";
import { meaningOf, outcomeOf, retryableIn } from "./campaign-outcome.ts";
import { campaignId, campaignPath, tabsOf } from "./campaign-place.ts";

type Analytics = ReturnsOf<"tracking.analytics">;
type Campaign = ReturnsOf<"campaigns.get">;

const t = messages.campaigns;

const FIRST_MS = 86_400_000;

/** Error of a campaign that a person stopped. */
const STOPPED = /^Stopped by \S+@/;

/** Opens and clicks since the start, also while there are none; at least the first day, as far as it is over. */
async function plotIn(visit: CompanyVisit, { started_at }: Campaign, { timeline }: Analytics) {
  if (!started_at) return undefined;
  const ends = [Date.parse(started_at), Math.min(Date.now(), Date.parse(started_at) + FIRST_MS)];
  const hits = [...timeline, ...ends.map((ms) => ({ at: new Date(ms).toISOString(), opens: 0, clicks: 0 }))];
  hits.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  const { clocks } = await callUnder(visit, "accounts.clocksAt", { instants: hits.map(({ at }) => at) });
  const { step, dates, opens, clicks } = timelineOf(hits.map((hit, n) => ({ ...hit, clock: clocks[n]! })))!;
  const shape = { unit: t.steps[step], hasBars: step === "hour" };
  return plotOf(t.overTime[step], dates, { [t.opens]: opens, [t.clicks]: clicks }, shape);
}

/** The name of the list or segment; null if it was deleted, or the campaign named its receivers. */
async function audienceOf(visit: CompanyVisit, { list_id, segment_id }: Campaign): Promise<string | null> {
  try {
    if (list_id) return (await callIn(visit, "subscribers.getList", { id: list_id })).name;
    return segment_id ? (await callIn(visit, "subscribers.getSegment", { id: segment_id })).name : null;
  } catch (error) {
    if (isServiceError(error)) return null;
    throw error;
  }
}

/** Summary of a report after the status: audience and duration. */
async function storyOf(visit: CompanyVisit, campaign: Campaign) {
  const { started_at, finished_at } = campaign;
  const took = started_at && finished_at ? Date.parse(finished_at) - Date.parse(started_at) : null;
  return { audience: await audienceOf(visit, campaign), took: took === null ? null : lengthOf(took) };
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
  const isLive = !isFinished(campaign.status);
  const [retryable, plot, story, company] = await Promise.all([
    retryableIn(visit, campaign),
    plotIn(visit, campaign, analytics),
    storyOf(visit, campaign),
    isLive ? callIn(visit, "accounts.getCompany", { id: visit.company.id }) : undefined,
  ]);
  return {
    view: "campaign",
    title: campaign.name,
    values: {
      campaign,
      analytics,
      outcome: outcomeOf(campaign, analytics, retryable),
      ...meaningOf(campaign, retryable, visit.company.timezone),
      wasStopped: STOPPED.test(campaign.error ?? ""),
      now: new Date().toISOString(),
      here: campaignPath(visit),
      tabs: tabsOf(visit, ""),
      isLive,
      isPaused: company !== undefined && company.sending_paused_at !== null,
      plot,
      story,
      frame: campaignPath(visit, "mail/frame"),
      variants: variantsOf(campaign, analytics),
      operations: operationsOf(visit, campaign, retryable),
      mayExport: may(visit, "campaigns.export"),
      mayEdit: campaign.status === "scheduled" && may(visit, "campaigns.update"),
    },
  };
}
