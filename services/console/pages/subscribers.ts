/** Subscribers: the list with its filters, and bulk actions on the selected subscribers. */
import { SUBSCRIBER_STATUSES } from "../../../models/subscriber.ts";
import { isUuid } from "../../lib/ids.ts";
import { requirePermission } from "../../permissions.ts";
import type { RawResponse } from "../contract.ts";
import { findSubscriber } from "../find-subscriber.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { listLink, orderingIn } from "../list-link.ts";
import { messages } from "../messages.ts";
import { askedOf, countText, pagerOf, rounded } from "../pager.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, download, may, type Outcome } from "../request.ts";
import { resultOf, withResult } from "../results.ts";

/** Maximum lists offered in the filter and on a subscriber's page; with more, use the search of lists. */
const MAX_LISTS = 100;

export const allLists = async (visit: CompanyVisit) =>
  (await callIn(visit, "subscribers.listLists", { page_size: MAX_LISTS, ordering: "name" })).results;

const PAGE_PARAMETERS = ["search", "status", "list", "ordering", "page", "cursor"];

const statusIn = (query: Record<string, string>) => SUBSCRIBER_STATUSES.find((one) => one === query.status);

const structuredFilters = (query: Record<string, string>) => {
  const status = statusIn(query);
  return { ...(status ? { status } : {}), ...(isUuid(query.list) ? { list: query.list } : {}) };
};

/** The page's filter as parameters of `subscribers.list`. */
const apiFilter = (query: Record<string, string>) => ({
  ...structuredFilters(query),
  ...(query.search ? { search: query.search } : {}),
});

/** Query parameters that show the same page of the list. */
const pageIn = (query: Record<string, string>): Record<string, string> =>
  Object.fromEntries(PAGE_PARAMETERS.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));

/** Columns to sort by, each with an index; otherwise by id. */
export const ORDERINGS = ["email", "created_at"];

/** Preselection from the query: undefined (nobody), "page" or "all" (all search results). */
const pickedIn = ({ picked }: Record<string, string>) => (picked === "page" || picked === "all" ? picked : undefined);

async function showList(
  visit: CompanyVisit,
  errors: Errors = {},
  existing?: { id: string; email: string },
): Promise<Answer> {
  const { query } = visit;
  const [{ results, ...paging }, lists] = await Promise.all([
    callIn(visit, "subscribers.list", {
      ...askedOf(query),
      ...structuredFilters(query),
      ...orderingIn(query, ORDERINGS),
    }),
    allLists(visit),
  ]);
  const here = companyPath(visit, "subscribers");
  const filters = new URLSearchParams(apiFilter(query));
  const linkTo = (more: Record<string, string>) => `${here}?${new URLSearchParams({ ...pageIn(query), ...more })}`;
  const picked = pickedIn(query);
  const all = countText(paging.count, paging.count_estimated);
  const mayWrite = may(visit, "subscribers.create");
  // Ticked boxes apply to this page only; "all" is kept when paging.
  const { picked: _, ...unpicked } = query;
  return {
    view: "subscribers",
    title: messages.subscribers.title,
    values: {
      subscribers: results,
      found: paging.count_estimated
        ? messages.subscribers.about(rounded(paging.count))
        : messages.subscribers.found(paging.count),
      lists,
      asked: query,
      isFiltered: `${filters}` !== "",
      typed: visit.form,
      errors,
      existing: existing && { text: messages.subscribers.exists(existing.email), href: `${here}/${existing.id}` },
      here,
      root: companyPath(visit),
      pager: pagerOf(here, picked === "all" ? query : unpicked, paging),
      result: resultOf(visit),
      picked,
      /** Count shown on the buttons; for ticked boxes a script fills it in. */
      chosen: picked === "all" ? all : "",
      all,
      hasMore: paging.count > results.length,
      pickPage: linkTo({ picked: "page" }),
      pickAll: linkTo({ picked: "all" }),
      pickNone: linkTo({}),
      backTo: `${new URLSearchParams(pageIn(query))}`,
      exportPath: `${here}/export?${filters}`,
      mayWrite,
      mayExport: may(visit, "subscribers.export"),
    },
  };
}

export const subscribersPage = (visit: CompanyVisit): Promise<Answer> => showList(visit);

export const exportSubscribers = (visit: CompanyVisit): RawResponse =>
  download(visit, "subscribers.export", apiFilter(visit.query), "subscribers.csv");

export const addSubscriber = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { email = "", first_name = "", last_name = "", list = "" } = visit.form;
      // The action fills in the given values, and would overwrite the names of somebody.
      const existing = email.trim() === "" || email.length > 254 ? undefined : await findSubscriber(visit, email);
      if (existing) return { ...(await showList(visit, { email: [] }, existing)), status: 400 };
      const lists = list === "" ? {} : { lists: [list] };
      const { id } = await callIn(visit, "subscribers.create", { email, first_name, last_name, ...lists });
      return { goTo: companyPath(visit, `subscribers/${id}`) };
    },
    (errors) => showList(visit, errors),
  );

const PICK = "pick.";

/** Selected subscribers as API parameters: ticked boxes of a page, or all results of a search. */
type Selection = { subscriber_ids: string[] } | { filter: ReturnType<typeof apiFilter> };

function selectionIn(form: Record<string, string>, query: Record<string, string>): Selection | undefined {
  if (form.all !== undefined) return { filter: apiFilter(query) };
  const ids = Object.keys(form)
    .filter((name) => name.startsWith(PICK))
    .map((name) => name.slice(PICK.length))
    .filter(isUuid);
  return ids.length > 0 ? { subscriber_ids: ids } : undefined;
}

/** Returns the selection as fields of the next form. */
const fieldsOf = (chosen: Selection, { form }: CompanyVisit): Record<string, string> => ({
  ...("filter" in chosen ? { all: "yes" } : Object.fromEntries(chosen.subscriber_ids.map((id) => [PICK + id, "on"]))),
  back: form.back ?? "",
});

/** The list page (path relative to the company, and query) that the form was submitted from. */
function listPageOf({ form }: CompanyVisit): { query: Record<string, string>; path: string } {
  const query = pageIn(Object.fromEntries(new URLSearchParams(form.back ?? "")));
  const search = `${new URLSearchParams(query)}`;
  return { query, path: `subscribers${search && `?${search}`}` };
}

/** Appends a hint if the action stopped before all matches were changed. */
const withUnfinishedHint = (text: string, { complete }: { complete?: false }): string =>
  complete === false ? `${text} ${messages.people.unfinished}` : text;

interface ListChange {
  chosen: Selection;
  list: { id: string; name: string };
  back: string;
}

/** Number of subscribers in the message; for a filter it counts changed memberships only. */
const affectedCount = (chosen: Selection, changed: number) =>
  "filter" in chosen ? changed : chosen.subscriber_ids.length;

async function addAll(visit: CompanyVisit, { chosen, list, back }: ListChange): Promise<Answer> {
  const result = await callIn(visit, "subscribers.bulkUpdateLists", { ...chosen, add_to_lists: [list.id] });
  const text = messages.people.added(result.added, affectedCount(chosen, result.added), list.name);
  return withResult(visit, back, { text: withUnfinishedHint(text, result) });
}

/** Offers undo only if every selected subscriber was on the list; otherwise undoing would add people who never were. */
async function removeAll(visit: CompanyVisit, { chosen, list, back }: ListChange): Promise<Answer> {
  const result = await callIn(visit, "subscribers.bulkUpdateLists", { ...chosen, remove_from_lists: [list.id] });
  const total = affectedCount(chosen, result.removed);
  const undo = { path: "subscribers/bulk", fields: { ...fieldsOf(chosen, visit), do: "add", list: list.id } };
  const text = withUnfinishedHint(messages.people.removed(result.removed, total, list.name), result);
  return withResult(visit, back, { text, ...(!("filter" in chosen) && result.removed === total ? { undo } : {}) });
}

/** Actions that need confirmation; the question shows the number of subscribers. */
const FINAL = { delete: "subscribers.bulkDelete", suppress: "subscribers.bulkSuppress" } as const;
type Final = keyof typeof FINAL;

async function askForConfirmation(visit: CompanyVisit, work: Final, chosen: Selection): Promise<Answer> {
  const { query, path } = listPageOf(visit);
  // This page changes nothing, but people without the permission must not see it either.
  requirePermission(FINAL[work], { role: visit.company.role });
  const { count, count_estimated } =
    "filter" in chosen
      ? await callIn(visit, "subscribers.list", { ...apiFilter(query), page_size: 1 })
      : { count: chosen.subscriber_ids.length, count_estimated: undefined };
  const t = messages.people.questions[work];
  const n = countText(count, count_estimated);
  return {
    view: "confirm",
    title: t.title(n, count),
    values: {
      sentences: [t.hint],
      action: companyPath(visit, "subscribers/bulk"),
      fields: { ...fieldsOf(chosen, visit), do: `${work}-for-good` },
      button: t.button(n),
      back: companyPath(visit, path),
      backLabel: t.back,
    },
  };
}

/** Drops the page number: that page may not exist after the deletion. */
const withoutPage = (visit: CompanyVisit): string => listLink("subscribers", listPageOf(visit).query, "page", "");

async function deleteAll(visit: CompanyVisit, chosen: Selection): Promise<Answer> {
  const result = await callIn(visit, "subscribers.bulkDelete", chosen);
  return withResult(visit, withoutPage(visit), {
    text: withUnfinishedHint(messages.people.deleted(result.deleted), result),
  });
}

async function suppressAll(visit: CompanyVisit, chosen: Selection): Promise<Answer> {
  const result = await callIn(visit, "subscribers.bulkSuppress", chosen);
  const text = messages.people.suppressedMany(result.suppressed, result.existing);
  return withResult(visit, withoutPage(visit), { text: withUnfinishedHint(text, result) });
}

/** Shows errors of all fields above the list, since checkboxes have no place for errors. */
const asBulkErrors = (errors: Errors): Errors => ({ bulk: Object.values(errors).flat() });

/** Exports the ticked subscribers, or all results of the search. */
const exportChosen = (visit: CompanyVisit, chosen: Selection): RawResponse =>
  download(
    visit,
    "subscribers.export",
    "filter" in chosen ? chosen.filter : { id: chosen.subscriber_ids },
    "subscribers.csv",
  );

export function bulkAction(visit: CompanyVisit): Promise<Outcome | Answer> {
  const { query, path } = listPageOf(visit);
  const showAgain = (errors: Errors) => showList({ ...visit, query, form: {} }, asBulkErrors(errors));
  const refused = async (sentence: string): Promise<Answer> => ({
    ...(await showAgain({ "": [sentence] })),
    status: 400,
  });
  return orAgain(async () => {
    const chosen = selectionIn(visit.form, query);
    const { do: work, list: listId } = visit.form;
    if (!chosen) return refused(messages.people.nobodyPicked);
    if (work === "export") return exportChosen(visit, chosen);
    if (work === "delete-for-good") return deleteAll(visit, chosen);
    if (work === "suppress-for-good") return suppressAll(visit, chosen);
    if (work === "delete" || work === "suppress") return askForConfirmation(visit, work, chosen);
    if (!isUuid(listId)) return refused(messages.people.noListChosen);
    const list = await callIn(visit, "subscribers.getList", { id: listId });
    const moving = { chosen, list, back: path };
    return work === "remove" ? removeAll(visit, moving) : addAll(visit, moving);
  }, showAgain);
}
