/** Lists: overview and creation. */
import { type Errors, orAgain } from "../form-errors.ts";
import { orderingIn } from "../list-link.ts";
import { messages } from "../messages.ts";
import { askedOf, pagerOf } from "../pager.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, may, type Outcome } from "../request.ts";
import { resultOf, withResult } from "../results.ts";

const t = messages.lists;

const optInOf = (choice: boolean | null) => (choice === null ? t.optIns.company : choice ? t.optIns.yes : t.optIns.no);

async function show(visit: CompanyVisit, errors: Errors = {}): Promise<Answer> {
  const { query, form } = visit;
  const { results, ...paging } = await callIn(visit, "subscribers.listLists", {
    ...askedOf(query),
    ...orderingIn(query, ["name", "created_at"]),
  });
  const here = companyPath(visit, "lists");
  return {
    view: "lists",
    title: t.title,
    values: {
      lists: results.map((list) => ({ ...list, optIn: optInOf(list.double_opt_in) })),
      isFiltered: Boolean(query.search),
      errors,
      asked: query,
      typed: form,
      here,
      pager: pagerOf(here, query, paging),
      result: resultOf(visit),
      mayWrite: may(visit, "subscribers.createList"),
    },
  };
}

export const listsPage = (visit: CompanyVisit): Promise<Answer> => show(visit);

export const makeList = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { name = "", description = "" } = visit.form;
      const list = await callIn(visit, "subscribers.createList", { name, description });
      return withResult(visit, `lists/${list.id}`, { text: t.made(list.name) });
    },
    (errors) => show(visit, errors),
  );
