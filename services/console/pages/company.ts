/** Company settings, in groups of one form, and deleting the company. */
import { isServiceError } from "../../lib/errors.ts";
import { requirePermission } from "../../permissions.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { passwordField } from "../form-fields.ts";
import type { NoticeName } from "../messages/notices.ts";
import { messages } from "../messages.ts";
import { type Answer, type CompanyVisit, callIn, callUnder, companyPath, may, type Outcome } from "../request.ts";
import { changesOf, errorsAt, fieldsOf, type Setting } from "../settings-form.ts";

const ALL = { page_size: 100 };

type Group = keyof typeof messages.company.groups;

const days = (name: string, label: string, hint: string, min: number): Setting => ({
  name: `retention_days.${name}`,
  value: "nullable number",
  label,
  hint,
  attributes: { min, max: 36_500, inputmode: "numeric" },
});

function percent(name: "hard_bounce_percent" | "complaint_percent", label: string, hint: string): Setting {
  return { name: `guard.${name}`, value: "number", label, hint, attributes: { min: 0, max: 100, step: "any" } };
}

async function settingsOf(visit: CompanyVisit, timezone: string): Promise<Record<Group, Setting[]>> {
  const [{ results: servers }, zones] = await Promise.all([
    callIn(visit, "smtp-sender.listConfigs", { ...ALL, ordering: "name" }),
    callUnder(visit, "accounts.timeZones", {}),
  ]);
  const t = messages.company.fields;
  const zoneNames = ["UTC", ...zones.filter((zone) => zone !== "UTC")];
  const options = (zoneNames.includes(timezone) ? zoneNames : [timezone, ...zoneNames]).map((zone) => ({
    value: zone,
    label: zone.replaceAll("_", " "),
  }));
  // In the order of models/statements/confirmation-server.ts.
  const used = servers.find(({ is_default }) => is_default) ?? servers.toSorted((a, b) => (a.id < b.id ? 1 : -1))[0];
  const noServer = { value: "", label: used ? messages.company.usedServer(used.name) : messages.company.noServer };
  const url = { maxlength: 2_048, inputmode: "url", autocapitalize: "none", placeholder: "https://" };
  return {
    general: [
      { name: "name", value: "text", ...t.name, attributes: { maxlength: 255, required: true } },
      { name: "website", value: "nullable", ...t.website, attributes: url },
      { name: "reply_to_email", value: "nullable", kind: "email", ...t.replyTo },
      { name: "footer_text", value: "text", kind: "lines", ...t.footer },
      { name: "timezone", value: "text", kind: "choice", ...t.timezone, options },
      {
        name: "default_smtp_config_id",
        value: "nullable",
        kind: "choice",
        ...t.server,
        options: [noServer, ...servers.map(({ id, name }) => ({ value: id, label: name }))],
      },
    ],
    tracking: [
      { name: "tracking_enabled", value: "check", ...t.tracking },
      { name: "individual_tracking", value: "check", ...t.individual },
      days("events", t.events.label, t.events.hint, 1),
      days("sent_emails", t.sentEmails.label, t.sentEmails.hint, 60),
      days("inbound", t.inbound.label, t.inbound.hint, 1),
    ],
    forms: [
      { name: "double_opt_in", value: "check", ...t.doubleOptIn },
      { name: "form_attributes", value: "list", ...t.formAttributes },
      { name: "form_hosts", value: "list", ...t.formHosts },
    ],
    sending: [
      { name: "require_authentication", value: "check", ...t.authentication },
      percent("hard_bounce_percent", t.hardBounces.label, t.hardBounces.hint),
      percent("complaint_percent", t.complaints.label, t.complaints.hint),
      { name: "guard.after", value: "number", ...t.after, attributes: { min: 1, inputmode: "numeric" } },
    ],
  };
}

async function show(visit: CompanyVisit, sent?: Errors): Promise<Answer> {
  const company = await callIn(visit, "accounts.getCompany", { id: visit.company.id });
  const settings = await settingsOf(visit, company.timezone);
  const errors = errorsAt(sent ?? {});
  const groups = Object.entries(settings).map(([name, of]) => ({
    ...messages.company.groups[name as Group],
    name,
    fields: fieldsOf(of, company, sent && visit.form),
  }));
  const shown = new Set(groups.flatMap(({ fields }) => fields.map(({ name }) => name)));
  return {
    view: "company",
    title: messages.company.title,
    values: {
      groups,
      errors,
      above: Object.entries(errors).flatMap(([field, sentences]) => (shown.has(field) ? [] : sentences)),
      here: companyPath(visit, "settings/company"),
      mayWrite: may(visit, "accounts.updateCompany"),
      deletePath: may(visit, "accounts.deleteCompany") ? companyPath(visit, "settings/company/delete") : undefined,
    },
  };
}

export const companyPage = (visit: CompanyVisit): Promise<Answer> => show(visit);

/** Designs contain name and footer since they were saved, so that a change of these would miss them. */
async function noticeAfter(visit: CompanyVisit, changes: object): Promise<NoticeName> {
  if (!("footer_text" in changes || "name" in changes)) return "saved";
  // The settings are saved: a failure here must not look as if they were not.
  const result = await callIn(visit, "renderer.updateDesigns", {}).catch(() => undefined);
  if (!result || result.failed.length > 0) return "designsPartlyUpdated";
  return result.updated > 0 ? "savedInDesigns" : "saved";
}

/** "lantern.example" as "https://lantern.example". */
const withScheme = (typed: string): string => (/^\s*$|^\s*[a-z]+:/i.test(typed) ? typed : `https://${typed.trim()}`);

export const saveCompany = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { id } = visit.company;
      const company = await callIn(visit, "accounts.getCompany", { id });
      const settings = Object.values(await settingsOf(visit, company.timezone)).flat();
      const form = { ...visit.form, website: withScheme(visit.form.website ?? "") };
      const changes = changesOf(settings, company, form);
      await callIn(visit, "accounts.updateCompany", { id, ...changes });
      return { goTo: companyPath(visit, "settings/company"), notice: await noticeAfter(visit, changes) };
    },
    (errors) => show(visit, errors),
  );

/** Counts what is deleted with the company; long lists are counted by the total of their first page. */
async function whatGoes(visit: CompanyVisit) {
  const one = { page_size: 1 };
  const { id } = visit.company;
  const [stats, lists, templates, media, members, keys] = await Promise.all([
    callIn(visit, "tracking.companyStats", { days: 1 }),
    callIn(visit, "subscribers.listLists", one),
    callIn(visit, "renderer.listTemplates", one),
    callIn(visit, "campaigns.listMedia", one),
    callIn(visit, "accounts.listMembers", { id, ...one }),
    callIn(visit, "accounts.listKeys", { id, ...one }),
  ]);
  const t = messages.deleteCompany.counts;
  const campaigns = Object.values(stats.campaigns).reduce((sum, n) => sum + n, 0);
  return [
    { label: t.subscribers, count: stats.subscribers.total },
    { label: t.lists, count: lists.count },
    { label: t.campaigns, count: campaigns },
    { label: t.templates, count: templates.count },
    { label: t.media, count: media.count },
    { label: t.members, count: members.count },
    { label: t.keys, count: keys.count },
  ];
}

async function showDelete(visit: CompanyVisit, errors: Errors = {}): Promise<Answer> {
  requirePermission("accounts.deleteCompany", { role: visit.company.role });
  const counts = await whatGoes(visit);
  const t = messages.deleteCompany;
  const name = {
    name: "name",
    label: t.name(visit.company.name),
    kind: "text",
    value: visit.form.name ?? "",
    attributes: { autocomplete: "off", required: true },
  };
  return {
    view: "delete-company",
    title: t.title,
    values: {
      counts,
      errors,
      action: companyPath(visit, "settings/company/delete"),
      back: companyPath(visit, "settings/company"),
      fields: [name, passwordField("password", messages.password.current)],
    },
  };
}

export const deleteCompanyPage = (visit: CompanyVisit): Promise<Answer> => showDelete(visit);

/** Checks the typed name, so that nobody deletes the wrong company; the action checks the password. */
export const deleteCompany = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { name = "", password = "" } = visit.form;
      const { id } = visit.company;
      if (name.trim() !== visit.company.name) {
        return { ...(await showDelete(visit, { name: [messages.deleteCompany.otherName] })), status: 400 };
      }
      try {
        await callIn(visit, "accounts.deleteCompany", { id, password });
      } catch (error) {
        if (!isServiceError(error, "FORBIDDEN") || !may(visit, "accounts.deleteCompany")) throw error;
        return { ...(await showDelete(visit, { password: [error.message] })), status: 403 };
      }
      return { goTo: "/app/account", notice: "companyDeleted" };
    },
    (errors) => showDelete(visit, errors),
  );
