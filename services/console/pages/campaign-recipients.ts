/** Recipients of a campaign, filtered by status or address, and the history of one mail. */

import { notFound } from "../../lib/errors.ts";
import { messages } from "../messages.ts";
import { askedOf, countText, PAGE_SIZE, pagerOf } from "../pager.ts";
import { type Answer, type CompanyVisit, callIn, companyPath } from "../request.ts";
import { campaignId, campaignPath, tabsOf } from "./campaign-place.ts";

const t = messages.campaigns.recipients;

/** Statuses, most wanted first. */
const STATUSES = ["sent", "failed", "bounced", "unknown", "queued", "sending", "suppressed"] as const;

/** A complete address is found by an index; part of an address needs a search through all recipients. */
const isAddress = (text: string): boolean => /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text);

export async function recipientsPage(visit: CompanyVisit): Promise<Answer> {
  const { query } = visit;
  const id = campaignId(visit);
  const status = STATUSES.find((one) => one === query.status);
  const { search = "", ...paged } = askedOf(query);
  const sought = search.trim();
  const [campaign, { results, ...paging }] = await Promise.all([
    callIn(visit, "campaigns.get", { id }),
    callIn(visit, "tracking.listSentEmails", {
      ...paged,
      campaign: id,
      ...(status ? { status } : {}),
      ...(sought === "" ? {} : isAddress(sought) ? { recipient: sought } : { search: sought }),
    }),
  ]);
  const here = campaignPath(visit, "recipients");
  return {
    view: "campaign-recipients",
    title: t.title(campaign.name),
    values: {
      campaign,
      recipients: results,
      found: countText(paging.count, paging.count_estimated),
      statuses: STATUSES,
      shown: status,
      asked: query,
      here,
      onePath: campaignPath(visit, "recipient"),
      tabs: tabsOf(visit, "recipients"),
      pager: pagerOf(here, query, paging),
    },
  };
}

/** Details of an event: a click's URL, a bounce's reason. */
function aboutOf(metadata: object): string {
  const { url, diagnostic } = metadata as { url?: unknown; diagnostic?: unknown };
  return String(url ?? diagnostic ?? "");
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
