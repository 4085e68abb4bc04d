/** Campaigns: the list with its filters, and those that are being sent. */
import { CAMPAIGN_STATUSES, CAMPAIGN_TYPES } from "../../../models/campaign.ts";
import type { ReturnsOf } from "../../contracts.ts";
import { orderingIn } from "../list-link.ts";
import { messages } from "../messages.ts";
import { askedOf, countText, pagerOf } from "../pager.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, may } from "../request.ts";
import { withStates } from "./campaign-outcome.ts";

const one = <T extends string>(among: readonly T[], text: string | undefined): T | undefined =>
  among.find((value) => value === text);

/** Columns that sort the list. */
const ORDERINGS = ["name", "created_at", "sent_count", "failed_count"];

/** Most lists and segments whose names a page of campaigns shows. */
const MAX_NAMES = 100;

type Listed = ReturnsOf<"campaigns.list">["results"];

/** Names of the lists and segments to which the campaigns go, by id. */
async function audiencesOf(visit: CompanyVisit, campaigns: Listed): Promise<Map<string, string>> {
  if (!campaigns.some(({ list_id, segment_id }) => list_id ?? segment_id)) return new Map();
  const [lists, segments] = await Promise.all([
    callIn(visit, "subscribers.listLists", { page_size: MAX_NAMES }),
    callIn(visit, "subscribers.listSegments", { page_size: MAX_NAMES }),
  ]);
  return new Map([...lists.results, ...segments.results].map(({ id, name }) => [id, name]));
}

export async function campaignsPage(visit: CompanyVisit): Promise<Answer> {
  const { query } = visit;
  const status = one(CAMPAIGN_STATUSES, query.status);
  const campaign_type = one(CAMPAIGN_TYPES, query.type);
  const { results, ...paging } = await callIn(visit, "campaigns.list", {
    ...askedOf(query),
    ...(status ? { status } : {}),
    ...(campaign_type ? { campaign_type } : {}),
    ...orderingIn(query, ORDERINGS),
  });
  const path = companyPath(visit, "campaigns");
  const [campaigns, audiences] = await Promise.all([withStates(visit, results), audiencesOf(visit, results)]);
  const audienceOf = ({ list_id, segment_id }: Listed[number]) => audiences.get(list_id ?? segment_id ?? "");
  return {
    view: "campaigns",
    title: messages.campaigns.title,
    values: {
      campaigns: campaigns.map((campaign) => ({ ...campaign, audience: audienceOf(campaign) })),
      here: path,
      found: countText(paging.count, paging.count_estimated),
      isFiltered: Boolean(status || campaign_type || query.search),
      asked: query,
      pager: pagerOf(path, query, paging),
      newPath: may(visit, "campaigns.createDraft") ? companyPath(visit, "campaigns/new") : null,
    },
  };
}

const MAX_SENDING_NOW = 20;

/** Returns campaigns that are being sent or wait for a sender. */
export async function campaignsSendingNow(visit: CompanyVisit) {
  const params = { page_size: MAX_SENDING_NOW };
  // Read in the order of the statuses, so that a campaign that starts in between is in the second list.
  const pending = await callIn(visit, "campaigns.list", { status: "pending", ...params });
  const sending = await callIn(visit, "campaigns.list", { status: "sending", ...params });
  const byId = new Map([...pending.results, ...sending.results].map((campaign) => [campaign.id, campaign]));
  return {
    campaigns: [...byId.values()].toReversed().slice(0, MAX_SENDING_NOW),
    count: pending.count + sending.count,
    path: companyPath(visit, "campaigns"),
  };
}

/** Separate page with which the overview refreshes its section. */
export async function sendingNowPage(visit: CompanyVisit): Promise<Answer> {
  return {
    view: "sending-now",
    title: messages.overview.sendingNow,
    values: { sendingNow: await campaignsSendingNow(visit) },
  };
}
