/** Subscribers: the list with its filters, one person with every mail and event, and what can be done about them. */
import { SUBSCRIBER_STATUSES } from "../../../models/subscriber.ts";
import { isUuid } from "../../lib/ids.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { messages } from "../messages.ts";
import { askedOf, PAGE_SIZE, pagerOf } from "../pager.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, may, type Outcome } from "../request.ts";

/** In a filter or on a person's page; companies with more use the search of the lists' own page. */
const MAX_LISTS = 100;

const allLists = async (visit: CompanyVisit) =>
  (await callIn(visit, "subscribers.listLists", { page_size: MAX_LISTS, ordering: "name" })).results;

async function showAll(visit: CompanyVisit, errors: Errors = {}): Promise<Answer> {
  const { query } = visit;
  const status = SUBSCRIBER_STATUSES.find((one) => one === query.status);
  const [{ count, results }, lists] = await Promise.all([
    callIn(visit, "subscribers.list", {
      ...askedOf(query),
      ...(status ? { status } : {}),
      ...(isUuid(query.list) ? { list: query.list } : {}),
    }),
    allLists(visit),
  ]);
  const here = companyPath(visit, "subscribers");
  return {
    view: "subscribers",
    title: messages.subscribers.title,
    values: {
      subscribers: results,
      count,
      lists,
      statuses: SUBSCRIBER_STATUSES,
      asked: query,
      typed: visit.form,
      errors,
      here,
      pager: pagerOf(here, query, count),
      mayWrite: may(visit, "subscribers.create"),
    },
  };
}

export const subscribersPage = (visit: CompanyVisit): Promise<Answer> => showAll(visit);

export const addSubscriber = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { email = "", first_name = "", last_name = "", list = "" } = visit.form;
      const lists = list === "" ? {} : { lists: [list] };
      const { id } = await callIn(visit, "subscribers.create", { email, first_name, last_name, ...lists });
      return { goTo: companyPath(visit, `subscribers/${id}`) };
    },
    (errors) => showAll(visit, errors),
  );

interface Moment {
  at: string;
  what: string;
  about: string;
  campaign: string | null;
}

/** What was sent to the person and what came of it, newest first. */
async function timeline(visit: CompanyVisit, recipient: string): Promise<Moment[]> {
  const [mails, events] = await Promise.all([
    callIn(visit, "tracking.listSentEmails", { recipient, page_size: PAGE_SIZE }),
    callIn(visit, "tracking.listEvents", { recipient, page_size: PAGE_SIZE }),
  ]);
  const moments = [
    ...mails.results.map(({ sent_at, created_at, status, subject, campaign_id, error }) => ({
      at: sent_at ?? created_at,
      what: status,
      about: error ? `${subject} – ${error}` : subject,
      campaign: campaign_id,
    })),
    ...events.results.map(({ timestamp, type, metadata, campaign_id }) => ({
      at: timestamp,
      what: type,
      about: String((metadata as { url?: string }).url ?? ""),
      campaign: campaign_id,
    })),
  ];
  return moments.toSorted((a, b) => b.at.localeCompare(a.at)).slice(0, PAGE_SIZE);
}

async function showOne(visit: CompanyVisit, errors: Errors = {}): Promise<Answer> {
  const subscriber = await callIn(visit, "subscribers.get", { id: visit.params.id! });
  const [moments, lists] = await Promise.all([timeline(visit, subscriber.email), allLists(visit)]);
  const here = companyPath(visit, `subscribers/${subscriber.id}`);
  return {
    view: "subscriber",
    title: subscriber.email,
    values: {
      subscriber,
      moments,
      on: lists.filter(({ id }) => subscriber.lists.includes(id)),
      other: lists.filter(({ id }) => !subscriber.lists.includes(id)),
      errors,
      here,
      campaigns: companyPath(visit, "campaigns"),
      mayWrite: may(visit, "subscribers.update"),
    },
  };
}

export const subscriberPage = (visit: CompanyVisit): Promise<Answer> => showOne(visit);

const back = (visit: CompanyVisit): Answer => ({ goTo: companyPath(visit, `subscribers/${visit.params.id}`) });

export const changeSubscriber = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { first_name = "", last_name = "", list = "" } = visit.form;
      const lists = list === "" ? {} : { lists: [list] };
      await callIn(visit, "subscribers.update", { id: visit.params.id!, first_name, last_name, ...lists });
      return back(visit);
    },
    (errors) => showOne(visit, errors),
  );

export async function takeOffList(visit: CompanyVisit): Promise<Answer> {
  const { list = "" } = visit.form;
  await callIn(visit, "subscribers.bulkUpdateLists", { subscriber_ids: [visit.params.id!], remove_from_lists: [list] });
  return back(visit);
}

export async function deleteSubscriber(visit: CompanyVisit): Promise<Answer> {
  await callIn(visit, "subscribers.remove", { id: visit.params.id! });
  return { goTo: companyPath(visit, "subscribers") };
}

export async function eraseSubscriber(visit: CompanyVisit): Promise<Answer> {
  const { email } = await callIn(visit, "subscribers.get", { id: visit.params.id! });
  await callIn(visit, "subscribers.erase", { email });
  return { goTo: companyPath(visit, "subscribers") };
}
