/** One subscriber: attributes, lists with consent, all mails and events, and operations. */

import type { RawResponse } from "../contract.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { messages } from "../messages.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, may, type Outcome } from "../request.ts";
import { resultOf, withResult } from "../results.ts";
import { ATTRIBUTE_KINDS, attributeChanges, attributeFields } from "./person-attributes.ts";
import { historyOf } from "./person-history.ts";
import { allLists } from "./subscribers.ts";

const t = messages.person;

const readSubscriber = (visit: CompanyVisit) => callIn(visit, "subscribers.get", { id: visit.params.id! });

/**
 * Path of the suppressions page that searches for the address or, if the address itself is not suppressed, for the last
 * two labels of its domain.
 */
async function pathOfSuppression(visit: CompanyVisit, email: string): Promise<string> {
  const { count } = await callIn(visit, "subscribers.listSuppressions", { search: email, page_size: 1 });
  const search = count > 0 ? email : email.split("@").at(-1)!.split(".").slice(-2).join(".");
  return `${companyPath(visit, "suppressions")}?${new URLSearchParams({ search })}`;
}

async function show(visit: CompanyVisit, errors: Errors = {}): Promise<Answer> {
  const subscriber = await readSubscriber(visit);
  const here = companyPath(visit, `subscribers/${subscriber.id}`);
  const [history, memberships, lists, suppressionsPath] = await Promise.all([
    historyOf(visit, subscriber.email, here),
    callIn(visit, "subscribers.listsOf", { id: subscriber.id }),
    allLists(visit),
    subscriber.suppression ? pathOfSuppression(visit, subscriber.email) : undefined,
  ]);
  const { form } = visit;
  return {
    view: "subscriber",
    title: subscriber.email,
    values: {
      subscriber,
      fields: attributeFields(subscriber.attributes, form),
      kinds: ATTRIBUTE_KINDS,
      typed: form,
      history,
      memberships,
      otherLists: lists.filter(({ id }) => !subscriber.lists.includes(id)),
      errors,
      here,
      root: companyPath(visit),
      suppressionsPath,
      result: resultOf(visit),
      mayWrite: may(visit, "subscribers.update"),
      mayExport: may(visit, "subscribers.exportPerson"),
    },
  };
}

export const personPage = (visit: CompanyVisit): Promise<Answer> => show(visit);

const pathOf = (visit: CompanyVisit) => `subscribers/${visit.params.id}`;

export const changePerson = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const id = visit.params.id!;
      const { first_name = "", last_name = "" } = visit.form;
      const names = Object.keys((await readSubscriber(visit)).attributes);
      const { changes, errors } = attributeChanges(visit.form, names);
      if (Object.keys(errors).length > 0) return { ...(await show(visit, errors)), status: 400 };
      await callIn(visit, "subscribers.update", { id, first_name, last_name, attributes: changes });
      return { goTo: companyPath(visit, pathOf(visit)), notice: "saved" };
    },
    (errors) => show(visit, errors),
  );

const listInForm = async (visit: CompanyVisit) => callIn(visit, "subscribers.getList", { id: visit.form.list ?? "" });

/** Shows the page again, with the errors of the list form below the heading "Lists". */
const showListErrors =
  (visit: CompanyVisit) =>
  (errors: Errors): Promise<Answer> =>
    show({ ...visit, form: {} }, { list: Object.values(errors).flat() });

export const putOnList = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(async () => {
    const list = await listInForm(visit);
    const change = { subscriber_ids: [visit.params.id!], add_to_lists: [list.id] };
    await callIn(visit, "subscribers.bulkUpdateLists", change);
    return withResult(visit, pathOf(visit), { text: t.putOn(list.name) });
  }, showListErrors(visit));

export const takeOffList = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(async () => {
    const list = await listInForm(visit);
    const change = { subscriber_ids: [visit.params.id!], remove_from_lists: [list.id] };
    const { removed } = await callIn(visit, "subscribers.bulkUpdateLists", change);
    const undo = { path: `${pathOf(visit)}/on-list`, fields: { list: list.id } };
    return withResult(visit, pathOf(visit), { text: t.takenOff(list.name), ...(removed > 0 ? { undo } : {}) });
  }, showListErrors(visit));

/** Downloads the person's data. The API records the download in the audit log. */
export async function personData(visit: CompanyVisit): Promise<RawResponse> {
  const data = await callIn(visit, "subscribers.exportPerson", { id: visit.params.id! });
  return {
    content_type: "application/json; charset=utf-8",
    body: JSON.stringify(data, null, 2),
    headers: { "content-disposition": 'attachment; filename="person.json"', "cache-control": "no-store" },
  };
}

export async function suppressPerson(visit: CompanyVisit): Promise<Answer> {
  const { email } = await readSubscriber(visit);
  await callIn(visit, "subscribers.createSuppression", { email });
  return withResult(visit, pathOf(visit), { text: messages.suppressions.suppressed(email) });
}

export async function deletePerson(visit: CompanyVisit): Promise<Answer> {
  const { email } = await readSubscriber(visit);
  await callIn(visit, "subscribers.remove", { id: visit.params.id! });
  return withResult(visit, "subscribers", { text: t.deleted(email) });
}

/**
 * Requires the address to be typed again, because an erasure, unlike all other operations, cannot be undone by adding
 * the person again.
 */
export async function erasePerson(visit: CompanyVisit): Promise<Outcome | Answer> {
  const { email } = await readSubscriber(visit);
  const typed = (visit.form.email ?? "").trim();
  // Users without the permission get 403 from the action, whatever they typed.
  if (typed.toLowerCase() !== email.toLowerCase() && may(visit, "subscribers.erase")) {
    return { ...(await show({ ...visit, form: {} }, { erase: [t.eraseOther] })), status: 400 };
  }
  const { erased, complete } = await callIn(visit, "subscribers.erase", { email });
  const { sent_emails = 0, events = 0 } = erased;
  return withResult(visit, "subscribers", { text: t.erased(sent_emails, events, complete) });
}
