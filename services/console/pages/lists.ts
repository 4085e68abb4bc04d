/** Lists and suppressions: two short tables with a form below each. */
import { type Errors, orAgain } from "../form-errors.ts";
import { messages } from "../messages.ts";
import { askedOf, pagerOf } from "../pager.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, may, type Outcome } from "../request.ts";

async function showLists(visit: CompanyVisit, errors: Errors = {}): Promise<Answer> {
  const { query, form } = visit;
  const { count, results } = await callIn(visit, "subscribers.listLists", askedOf(query));
  const here = companyPath(visit, "lists");
  return {
    view: "lists",
    title: messages.lists.title,
    values: {
      lists: results,
      subscribers: companyPath(visit, "subscribers"),
      errors,
      asked: query,
      typed: form,
      here,
      pager: pagerOf(here, query, count),
      mayWrite: may(visit, "subscribers.createList"),
    },
  };
}

export const listsPage = (visit: CompanyVisit): Promise<Answer> => showLists(visit);

export const makeList = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { name = "", description = "" } = visit.form;
      await callIn(visit, "subscribers.createList", { name, description });
      return { goTo: companyPath(visit, "lists") };
    },
    (errors) => showLists(visit, errors),
  );

export async function deleteList(visit: CompanyVisit): Promise<Answer> {
  await callIn(visit, "subscribers.removeList", { id: visit.params.id! });
  return { goTo: companyPath(visit, "lists") };
}

async function showSuppressions(visit: CompanyVisit, errors: Errors = {}): Promise<Answer> {
  const { query, form } = visit;
  const { count, results } = await callIn(visit, "subscribers.listSuppressions", askedOf(query));
  const here = companyPath(visit, "suppressions");
  return {
    view: "suppressions",
    title: messages.suppressions.title,
    values: {
      suppressions: results,
      errors,
      asked: query,
      typed: form,
      here,
      pager: pagerOf(here, query, count),
      mayWrite: may(visit, "subscribers.createSuppression"),
    },
  };
}

export const suppressionsPage = (visit: CompanyVisit): Promise<Answer> => showSuppressions(visit);

export const suppress = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { what = "", reason = "" } = visit.form;
      const target = what.includes("@") ? { email: what } : { domain: what };
      await callIn(visit, "subscribers.createSuppression", { ...target, reason });
      return { goTo: companyPath(visit, "suppressions") };
    },
    (errors) => showSuppressions(visit, errors),
  );

export async function liftSuppression(visit: CompanyVisit): Promise<Answer> {
  await callIn(visit, "subscribers.removeSuppression", { id: visit.params.id! });
  return { goTo: companyPath(visit, "suppressions") };
}
