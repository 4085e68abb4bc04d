/** One list: its settings, who is on it, the form for a site, and its end. */

import { SUBSCRIBER_STATUSES } from "../../../models/subscriber.ts";
import { config } from "../../lib/config.ts";
import { escapeHtml } from "../../lib/escape-html.ts";
import { readableName } from "../../lib/readable-name.ts";
import { TRAP_ATTRIBUTES } from "../../lib/trap-field.ts";
import { requirePermission } from "../../permissions.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { messages } from "../messages.ts";
import { askedOf, pagerOf } from "../pager.ts";
import { formatted } from "../render.ts";
import { type Answer, type CompanyVisit, callIn, callUnder, companyPath, may, type Outcome } from "../request.ts";
import { resultOf, withResult } from "../results.ts";
import { dayOf } from "../times.ts";

const t = messages.list;

interface FormOf {
  companyId: string;
  list: { id: string; name: string; public_name: string };
  attributes: readonly string[];
}

/** HTML for a page of the company's own: no script, a field that only programs fill in. */
export function formCode({ companyId, list, attributes }: FormOf): string {
  const field = (name: string, label: string, more: string) =>
    `  <p><label>${escapeHtml(label)}<br><input name="${escapeHtml(name)}" ${more}></label></p>`;
  return [
    `<form method="post" action="${escapeHtml(config().BASE_URL)}/api/emails/public/subscribe/${companyId}/">`,
    `  <input type="hidden" name="list_id" value="${list.id}">`,
    field("email", "Email address", 'type="email" autocomplete="email" required'),
    field("first_name", "First name", 'autocomplete="given-name"'),
    field("last_name", "Last name", 'autocomplete="family-name"'),
    ...attributes.map((name) => field(name, readableName(name), "")),
    `  <p hidden aria-hidden="true"><label>Leave this empty<br><input ${TRAP_ATTRIBUTES}></label></p>`,
    `  <p><button type="submit">${escapeHtml(`Subscribe to ${list.public_name || list.name}`)}</button></p>`,
    "</form>",
  ].join("\n");
}

const read = (visit: CompanyVisit) => callIn(visit, "subscribers.getList", { id: visit.params.id! });

async function show(visit: CompanyVisit, errors: Errors = {}): Promise<Answer> {
  const { query, form } = visit;
  const id = visit.params.id!;
  const status = SUBSCRIBER_STATUSES.find((one) => one === query.status);
  const [list, members, company, dropped] = await Promise.all([
    read(visit),
    callIn(visit, "subscribers.listMembers", { id, ...askedOf(query), ...(status ? { status } : {}) }),
    callIn(visit, "accounts.getCompany", { id: visit.company.id }),
    callUnder(visit, "subscribers.droppedSignUps", {}),
  ]);
  const here = companyPath(visit, `lists/${list.id}`);
  const { results, ...paging } = members;
  return {
    view: "list",
    title: list.name,
    values: {
      list,
      members: results,
      found: paging.count_estimated
        ? messages.subscribers.about(formatted(Number(paging.count.toPrecision(2))))
        : messages.subscribers.found(paging.count),
      statuses: SUBSCRIBER_STATUSES,
      isFiltered: Boolean(query.search || status),
      typed: form,
      optIn: form.double_opt_in ?? (list.double_opt_in === null ? "company" : list.double_opt_in ? "yes" : "no"),
      optIns: {
        company: t.optIns.company(company.double_opt_in),
        yes: t.optIns.yes,
        no: t.optIns.no,
      },
      isPublic: form.name === undefined ? list.visibility === "public" : form.public !== undefined,
      isArchived: form.name === undefined ? list.archive : form.archive !== undefined,
      archivePath: list.archive && list.visibility === "public" ? `/api/emails/public/archive/${list.id}/` : undefined,
      formCode: formCode({ companyId: visit.company.id, list, attributes: company.form_attributes }),
      signUpPath: `/api/emails/public/subscribe/${visit.company.id}/?list=${list.id}`,
      dropped: dropped.last_at ? t.dropped(dropped.count, dayOf(dropped.last_at, visit.company.timezone)) : undefined,
      errors,
      asked: query,
      here,
      root: companyPath(visit),
      deleteHint: t.deleteHint(list.subscriber_count),
      exportPath: `${companyPath(visit, "subscribers")}/export?${new URLSearchParams({ list: list.id })}`,
      pager: pagerOf(here, query, paging),
      result: resultOf(visit),
      mayWrite: may(visit, "subscribers.updateList"),
      mayExport: may(visit, "subscribers.export"),
    },
  };
}

export const listPage = (visit: CompanyVisit): Promise<Answer> => show(visit);

const OPT_IN: Record<string, boolean | null> = { company: null, yes: true, no: false };

export const changeList = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { name = "", description = "", public_name = "", public_description = "", double_opt_in = "" } = visit.form;
      const choice = OPT_IN[double_opt_in];
      await callIn(visit, "subscribers.updateList", {
        id: visit.params.id!,
        name,
        description,
        visibility: visit.form.public === undefined ? "private" : "public",
        public_name,
        public_description,
        archive: visit.form.archive !== undefined,
        ...(choice === undefined ? {} : { double_opt_in: choice }),
      });
      return { goTo: companyPath(visit, `lists/${visit.params.id}`), notice: "saved" };
    },
    (errors) => show(visit, errors),
  );

export const addToList = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { id } = await read(visit);
      const { email } = await callIn(visit, "subscribers.create", { email: visit.form.email ?? "", lists: [id] });
      return withResult(visit, `lists/${id}`, { text: t.added(email) });
    },
    ({ email = [], ...others }) =>
      show({ ...visit, form: {} }, { member: [...email, ...Object.values(others).flat()] }),
  );

export async function deleteList(visit: CompanyVisit): Promise<Answer> {
  const { id, name, subscriber_count } = await read(visit);
  requirePermission("subscribers.removeList", { role: visit.company.role });
  if (visit.form.sure === undefined) {
    return {
      view: "confirm",
      title: `${t.delete}: ${name}`,
      values: {
        sentences: [t.deleteHint(subscriber_count)],
        action: companyPath(visit, `lists/${id}/delete`),
        fields: { sure: "yes" },
        button: t.deleteConfirm(subscriber_count),
        back: companyPath(visit, `lists/${id}`),
        backLabel: t.keep,
      },
    };
  }
  await callIn(visit, "subscribers.removeList", { id });
  return withResult(visit, "lists", { text: t.deleted(name) });
}
