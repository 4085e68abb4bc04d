/** Subscribers: the list with its filters, and what is done with those who were chosen in it. */
import { SUBSCRIBER_STATUSES } from "../../../models/subscriber.ts";
import { isUuid } from "../../lib/ids.ts";
import { requirePermission } from "../../permissions.ts";
import type { Shown } from "../contract.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { messages } from "../messages.ts";
import { askedOf, pagerOf } from "../pager.ts";
import { formatted } from "../render.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, download, may, type Outcome } from "../request.ts";
import { resultOf, withResult } from "../results.ts";

/** In a filter or on a person's page; companies with more use the search of the lists' own page. */
const MAX_LISTS = 100;

export const allLists = async (visit: CompanyVisit) =>
  (await callIn(visit, "subscribers.listLists", { page_size: MAX_LISTS, ordering: "name" })).results;

const statusIn = (query: Record<string, string>) => SUBSCRIBER_STATUSES.find((one) => one === query.status);

const filtersIn = (query: Record<string, string>) => {
  const status = statusIn(query);
  return { ...(status ? { status } : {}), ...(isUuid(query.list) ? { list: query.list } : {}) };
};

/** Two digits: the rest of an estimate means nothing. */
const rounded = (n: number) => formatted(Number(n.toPrecision(2)));

async function showAll(visit: CompanyVisit, errors: Errors = {}, picked = false): Promise<Answer> {
  const { query } = visit;
  const [{ results, ...paging }, lists] = await Promise.all([
    callIn(visit, "subscribers.list", { ...askedOf(query), ...filtersIn(query) }),
    allLists(visit),
  ]);
  const here = companyPath(visit, "subscribers");
  const filters = new URLSearchParams({ ...filtersIn(query), ...(query.search ? { search: query.search } : {}) });
  const { page: number, cursor } = query;
  const place = { ...(number ? { page: number } : {}), ...(cursor ? { cursor } : {}) };
  const page = new URLSearchParams({ ...Object.fromEntries(filters), ...place });
  return {
    view: "subscribers",
    title: messages.subscribers.title,
    values: {
      subscribers: results,
      found: paging.count_estimated
        ? messages.subscribers.about(rounded(paging.count))
        : messages.subscribers.found(paging.count),
      lists,
      statuses: SUBSCRIBER_STATUSES,
      asked: query,
      isFiltered: `${filters}` !== "",
      typed: visit.form,
      errors,
      here,
      root: companyPath(visit),
      pager: pagerOf(here, query, paging),
      result: resultOf(visit),
      picked: picked || query.picked === "all",
      pickAll: `${here}?${new URLSearchParams({ ...Object.fromEntries(page), picked: "all" })}`,
      pickNone: `${here}?${page}`,
      backTo: `${page}`,
      exportPath: `${here}/export?${new URLSearchParams(filtersIn(query))}`,
      mayWrite: may(visit, "subscribers.create"),
      mayExport: may(visit, "subscribers.export") && !query.search,
    },
  };
}

export const subscribersPage = (visit: CompanyVisit): Promise<Answer> => showAll(visit);

export const exportSubscribers = (visit: CompanyVisit): Shown =>
  download(visit, "subscribers.export", filtersIn(visit.query), "subscribers.csv");

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

const PICK = "pick.";

/** A page has 25 boxes. */
const pickedIn = (form: Record<string, string>): string[] =>
  Object.keys(form)
    .filter((name) => name.startsWith(PICK))
    .map((name) => name.slice(PICK.length))
    .filter(isUuid);

/** Where the form was: a page of the list with its filters, below the company's. */
function backOf({ form }: CompanyVisit): { query: Record<string, string>; path: string } {
  const given = new URLSearchParams(form.back ?? "");
  const query = Object.fromEntries(
    ["search", "status", "list", "page"].flatMap((name) => {
      const value = given.get(name);
      return value ? [[name, value]] : [];
    }),
  );
  const search = `${new URLSearchParams(query)}`;
  return { query, path: `subscribers${search && `?${search}`}` };
}

interface Moving {
  ids: string[];
  list: { id: string; name: string };
  back: string;
}

async function addAll(visit: CompanyVisit, { ids, list, back }: Moving): Promise<Answer> {
  const moved = { subscriber_ids: ids, add_to_lists: [list.id] };
  const { added } = await callIn(visit, "subscribers.bulkUpdateLists", moved);
  return withResult(visit, back, { text: messages.people.added(added, ids.length, list.name) });
}

/** Taken back only where all of them were on the list: nobody else is to be put on it. */
async function removeAll(visit: CompanyVisit, { ids, list, back }: Moving): Promise<Answer> {
  const moved = { subscriber_ids: ids, remove_from_lists: [list.id] };
  const { removed } = await callIn(visit, "subscribers.bulkUpdateLists", moved);
  const fields = Object.fromEntries(ids.map((id) => [`${PICK}${id}`, "on"]));
  const undo = {
    path: "subscribers/bulk",
    fields: { ...fields, do: "add", list: list.id, back: visit.form.back ?? "" },
  };
  const text = messages.people.removed(removed, ids.length, list.name);
  return withResult(visit, back, { text, ...(removed === ids.length ? { undo } : {}) });
}

async function askToDelete(visit: CompanyVisit, ids: string[]): Promise<Answer> {
  const { path } = backOf(visit);
  return {
    view: "confirm",
    title: messages.people.deleteTitle(ids.length),
    values: {
      sentences: [messages.people.deleteHint(ids.length)],
      action: companyPath(visit, "subscribers/bulk"),
      fields: {
        ...Object.fromEntries(ids.map((id) => [`${PICK}${id}`, "on"])),
        back: visit.form.back ?? "",
        do: "delete-for-good",
      },
      button: messages.people.deleteButton,
      back: companyPath(visit, path),
      backLabel: messages.people.back,
    },
  };
}

async function deleteAll(visit: CompanyVisit, ids: string[]): Promise<Answer> {
  const { deleted } = await callIn(visit, "subscribers.bulkDelete", { subscriber_ids: ids });
  const { query } = backOf(visit);
  // The page that they were on may be gone with them.
  const { page: _, cursor: __, ...filters } = query;
  const search = `${new URLSearchParams(filters)}`;
  return withResult(visit, `subscribers${search && `?${search}`}`, { text: messages.people.deleted(deleted) });
}

/** Sentences of any field: the boxes have none of their own. */
const atBulk = (errors: Errors): Errors => ({ bulk: Object.values(errors).flat() });

export function changeMany(visit: CompanyVisit): Promise<Outcome | Answer> {
  const { query, path } = backOf(visit);
  const again = (errors: Errors) => showAll({ ...visit, query, form: {} }, atBulk(errors));
  const refused = async (sentence: string): Promise<Answer> => ({ ...(await again({ "": [sentence] })), status: 400 });
  return orAgain(async () => {
    const ids = pickedIn(visit.form);
    const { do: work, list: listId } = visit.form;
    if (ids.length === 0) return refused(messages.people.nobodyPicked);
    if (work === "delete-for-good") return deleteAll(visit, ids);
    if (work === "delete") {
      // The question writes nothing, and is no page for who may not.
      requirePermission("subscribers.bulkDelete", { role: visit.company.role });
      return askToDelete(visit, ids);
    }
    if (!isUuid(listId)) return refused(messages.people.noListChosen);
    const list = await callIn(visit, "subscribers.getList", { id: listId });
    const moving = { ids, list, back: path };
    return work === "remove" ? removeAll(visit, moving) : addAll(visit, moving);
  }, again);
}
