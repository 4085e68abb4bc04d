/** Recipients of a campaign, filtered by status or address, and the history of one mail. */
import type { ParamsOf } from "../../contracts.ts";
import { notFound } from "../../lib/errors.ts";
import { messages } from "../messages.ts";
import { askedOf, countText, PAGE_SIZE, pagerOf } from "../pager.ts";
import { type Answer, type CompanyVisit, callIn, companyPath } from "../request.ts";
import { campaignId, campaignPath, tabsOf } from "./campaign-place.ts";

const t = messages.campaigns.recipients;

/** Statuses, most wanted first. */
const STATUSES = ["sent", "failed", "bounced", "unknown", "queued", "sending", "suppressed"] as const;

/** Reactions, each with its own list. */
const REACTIONS = ["opened", "clicked"] as const;

/** A complete address is found by an index; part of an address needs a search through all recipients. */
const isAddress = (text: string): boolean => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text);

/** Details of an event: a click's URL, a bounce's reason. */
function aboutOf(metadata: object): string {
  const { url, diagnostic } = metadata as { url?: unknown; diagnostic?: unknown };
  return String(url ?? diagnostic ?? "");
}

async function mailsTo(visit: CompanyVisit, asked: ParamsOf<"tracking.listSentEmails">) {
  const { results, ...paging } = await callIn(visit, "tracking.listSentEmails", asked);
  return { recipients: results, paging };
}

/** Opens or clicks, newest first. A person who opened twice is listed twice. */
async function reactionsTo(visit: CompanyVisit, asked: ParamsOf<"tracking.listEvents">) {
  const { results, ...paging } = await callIn(visit, "tracking.listEvents", asked);
  const reactions = results.map(({ recipient, timestamp, metadata }) => ({
    recipient,
    timestamp,
    about: aboutOf(metadata),
    isByMachine: (metadata as { machine?: unknown }).machine === true,
  }));
  return { reactions, paging };
}

export async function recipientsPage(visit: CompanyVisit): Promise<Answer> {
  const { query } = visit;
  const id = campaignId(visit);
  const status = STATUSES.find((one) => one === query.status);
  const reaction = REACTIONS.find((one) => one === query.status);
  const { search = "", ...paged } = askedOf(query);
  const sought = search.trim();
  const asked = {
    ...paged,
    campaign: id,
    ...(sought === "" ? {} : isAddress(sought) ? { recipient: sought } : { search: sought }),
  };
  const [campaign, { paging, ...found }] = await Promise.all([
    callIn(visit, "campaigns.get", { id }),
    reaction
      ? reactionsTo(visit, { ...asked, type: reaction })
      : mailsTo(visit, { ...asked, ...(status && { status }) }),
  ]);
  const here = campaignPath(visit, "recipients");
  return {
    view: "campaign-recipients",
    title: t.title(campaign.name),
    values: {
      campaign,
      ...found,
      found: countText(paging.count, paging.count_estimated),
      statuses: STATUSES,
      shown: status ?? reaction,
      asked: query,
      here,
      onePath: campaignPath(visit, "recipient"),
      suppressionsPath: companyPath(visit, "suppressions"),
      tabs: tabsOf(visit, "recipients"),
      pager: pagerOf(here, query, paging),
    },
  };
}

export async function recipientPage(visit: CompanyVisit): Promise<Answer> {
  const id = campaignId(visit);
  const { email = "" } = visit.query;
  if (!isAddress(email)) throw notFound();
  const [campaign, mails, events] = await Promise.all([
    callIn(visit, "campaigns.get", { id }),
    callIn(visit, "tracking.listSentEmails", { campaign: id, recipient: email, page_size: PAGE_SIZE }),
    callIn(visit, "tracking.listEvents", { campaign: id, recipient: email, page_size: PAGE_SIZE }),
  ]);
  const [mail] = mails.results;
  if (!mail) throw notFound();
  return {
    view: "campaign-recipient",
    title: mail.recipient,
    values: {
      campaign,
      mails: mails.results,
      events: events.results.map(({ type, timestamp, metadata }) => ({ type, timestamp, about: aboutOf(metadata) })),
      hasMore: events.count > events.results.length,
      campaignPath: campaignPath(visit),
      recipientsPath: campaignPath(visit, "recipients"),
      subscriberPath: mail.subscriber_id === null ? null : companyPath(visit, `subscribers/${mail.subscriber_id}`),
    },
  };
}
