/** One list in three tabs: subscribers, settings, and the sign-up form for a website. */

import { SUBSCRIBER_STATUSES } from "../../../models/subscriber.ts";
import { config } from "../../lib/config.ts";
import { escapeHtml } from "../../lib/escape-html.ts";
import { readableName } from "../../lib/readable-name.ts";
import { TRAP_ATTRIBUTES } from "../../lib/trap-field.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { orderingIn } from "../list-link.ts";
import { messages } from "../messages.ts";
import { askedOf, pagerOf, rounded } from "../pager.ts";
import {
  type Answer,
  type CompanyVisit,
  callIn,
  callUnder,
  companyPath,
  may,
  type Outcome,
  requireMay,
} from "../request.ts";
import { resultOf, withResult } from "../results.ts";
import { dayOf } from "../times.ts";
import { ORDERINGS } from "./subscribers.ts";

const t = messages.list;

interface FormOf {
  companyId: string;
  list: { id: string; name: string; public_name: string };
  attributes: readonly string[];
}

/** HTML for the company's website: without scripts, with a hidden field that only bots fill in. */
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

const readList = (visit: CompanyVisit) => callIn(visit, "subscribers.getList", { id: visit.params.id! });
type List = Awaited<ReturnType<typeof readList>>;

const TABS = { "": t.members, settings: t.settings, form: t.form };

/** Renders a tab of the list's page. */
function tabOf(visit: CompanyVisit, list: List, tab: keyof typeof TABS, values: Record<string, unknown>): Answer {
  const here = companyPath(visit, `lists/${list.id}`);
  const tabs = Object.entries(TABS).map(([path, label]) => ({
    label,
    href: path === "" ? here : `${here}/${path}`,
    current: path === tab,
  }));
  const mayWrite = may(visit, "subscribers.updateList");
  const common = { list, here, tabs: mayWrite ? tabs : [], mayWrite, result: resultOf(visit), asked: visit.query };
  return { view: tab === "" ? "list" : `list-${tab}`, title: list.name, values: { ...common, ...values } };
}

async function showPeople(visit: CompanyVisit, errors: Errors = {}): Promise<Answer> {
  const { query } = visit;
  const id = visit.params.id!;
  const status = SUBSCRIBER_STATUSES.find((one) => one === query.status);
  const params = { id, ...askedOf(query), ...orderingIn(query, ORDERINGS), ...(status ? { status } : {}) };
  const [list, { results, ...paging }] = await Promise.all([
    readList(visit),
    callIn(visit, "subscribers.listMembers", params),
  ]);
  return tabOf(visit, list, "", {
    members: results,
    found: paging.count_estimated
      ? messages.subscribers.about(rounded(paging.count))
      : messages.subscribers.found(paging.count),
    isFiltered: Boolean(query.search || status),
    errors,
    root: companyPath(visit),
    exportPath: `${companyPath(visit, "subscribers")}/export?${new URLSearchParams({ list: list.id })}`,
    pager: pagerOf(companyPath(visit, `lists/${list.id}`), query, paging),
    mayExport: may(visit, "subscribers.export"),
    mayCompose: may(visit, "campaigns.createDraft"),
  });
}

export const listPage = (visit: CompanyVisit): Promise<Answer> => showPeople(visit);

async function showSettings(visit: CompanyVisit, errors: Errors = {}): Promise<Answer> {
  requireMay(visit, "subscribers.updateList");
  const { form } = visit;
  const [list, company] = await Promise.all([
    readList(visit),
    callIn(visit, "accounts.getCompany", { id: visit.company.id }),
  ]);
  return tabOf(visit, list, "settings", {
    typed: form,
    optIn: form.double_opt_in ?? (list.double_opt_in === null ? "company" : list.double_opt_in ? "yes" : "no"),
    optIns: { ...t.optIns, company: t.optIns.company(company.double_opt_in) },
    isPublic: form.name === undefined ? list.visibility === "public" : form.public !== undefined,
    isArchived: form.name === undefined ? list.archive : form.archive !== undefined,
    archivePath: list.archive && list.visibility === "public" ? `/api/emails/public/archive/${list.id}/` : undefined,
    errors,
    deleteHint: t.deleteHint(list.subscriber_count),
  });
}

export const listSettingsPage = (visit: CompanyVisit): Promise<Answer> => showSettings(visit);

export async function listFormPage(visit: CompanyVisit): Promise<Answer> {
  requireMay(visit, "subscribers.updateList");
  const { id: companyId, timezone } = visit.company;
  const [list, company, dropped] = await Promise.all([
    readList(visit),
    callIn(visit, "accounts.getCompany", { id: companyId }),
    callUnder(visit, "subscribers.droppedSignUps", {}),
  ]);
  return tabOf(visit, list, "form", {
    formCode: formCode({ companyId, list, attributes: company.form_attributes }),
    signUpPath: `/api/emails/public/subscribe/${companyId}/?list=${list.id}`,
    dropped: dropped.last_at ? t.dropped(dropped.count, dayOf(dropped.last_at, timezone)) : undefined,
  });
}

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
      return { goTo: companyPath(visit, `lists/${visit.params.id}/settings`), notice: "saved" };
    },
    (errors) => showSettings(visit, errors),
  );

export const addToList = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { id } = await readList(visit);
      const { email } = await callIn(visit, "subscribers.create", { email: visit.form.email ?? "", lists: [id] });
      return withResult(visit, `lists/${id}`, { text: t.added(email) });
    },
    (errors) => showPeople({ ...visit, form: {} }, { member: Object.values(errors).flat() }),
  );

export async function deleteList(visit: CompanyVisit): Promise<Answer> {
  const { id, name } = await readList(visit);
  await callIn(visit, "subscribers.removeList", { id });
  return withResult(visit, "lists", { text: t.deleted(name) });
}
