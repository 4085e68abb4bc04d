/** Hosted sign-up page with the company's public form; it also shows errors of forms submitted from elsewhere. */

import { queryOne } from "../../../models/database/db.ts";
import type { ParamsOf } from "../../contracts.ts";
import { MAX_TEXT } from "../../lib/attributes.ts";
import { type Ctx, requireOwnHost } from "../../lib/caller.ts";
import { notFound } from "../../lib/errors.ts";
import type { Catalogue } from "../../lib/i18n/en.ts";
import { catalogueFor } from "../../lib/i18n/languages.ts";
import { isUuid } from "../../lib/ids.ts";
import { readableName } from "../../lib/readable-name.ts";
import type { Document } from "../../lib/shapes.ts";
import { TRAP_ATTRIBUTES } from "../../lib/trap-field.ts";
import { page } from "./page.ts";
import { pageCompany } from "./page-company.ts";

type Again = ParamsOf<"tracking.subscribeAgain">;

interface Form {
  form_attributes: string[];
  list_id: string | null;
  /** Name of the list, if it is public. */
  list: string | null;
}

const FORM = `
  select c.form_attributes, l.id as list_id,
    case when l.visibility = 'public' then coalesce(nullif(l.public_name, ''), l.name) end as list
  from companies c left join lists l on l.company_id = c.id and l.id = $2
  where c.id = $1 and c.deleted_at is null`;

const BUILT_IN = [
  { name: "email", label: "address", type: "email", max: 254, autocomplete: "email", dir: "ltr", required: true },
  { name: "first_name", label: "firstName", type: "text", max: 255, autocomplete: "given-name", dir: "auto" },
  { name: "last_name", label: "lastName", type: "text", max: 255, autocomplete: "family-name", dir: "auto" },
] as const;

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function errorOf({ subscribe: t }: Catalogue, name: string, value: string): string {
  if (name !== "email") return t.wrong;
  return value.trim() === "" ? t.noAddress : t.wrongAddress;
}

function fieldsOf(t: Catalogue, attributes: readonly string[], { typed, errors }: Pick<Again, "typed" | "errors">) {
  const attributeFields = attributes.map((name) => ({
    name,
    label: readableName(name),
    type: "text",
    max: MAX_TEXT,
    dir: "auto",
  }));
  const fields = [...BUILT_IN.map((field) => ({ ...field, label: t.preferences[field.label] })), ...attributeFields];
  const first = fields.find(({ name }) => Object.hasOwn(errors, name))?.name;
  return fields.map((field, n) => {
    const value = textOf(typed[field.name]);
    const error = Object.hasOwn(errors, field.name) ? errorOf(t, field.name, value) : undefined;
    return { ...field, id: `field-${n}`, value, error, focus: field.name === first };
  });
}

/** Errors of fields that are not shown belong to the form itself: its author reads them in the API's words. */
function problemsOf(t: Catalogue, { errors, busy }: Again, shown: readonly string[]): string[] {
  const others = Object.entries(errors).filter(([name]) => !shown.includes(name));
  return [
    ...(busy ? [t.subscribe.busy] : []),
    ...others.map(([name, said]) => (name === "non_field_errors" ? said.join(" ") : `${name}: ${said.join(" ")}`)),
  ];
}

/** Keeps a valid redirect target of the sender's own page. */
function destinationOf({ typed, errors }: Again): string | undefined {
  const url = textOf(typed.redirect_url);
  return !Object.hasOwn(errors, "redirect_url") && /^https?:/i.test(url) && URL.canParse(url) ? url : undefined;
}

async function formPage(ctx: Ctx, again: Again): Promise<Document> {
  const { company_id: companyId, list_id: listId, status } = again;
  requireOwnHost(ctx.meta, companyId);
  const form = await queryOne<Form>(FORM, [companyId, listId && isUuid(listId) ? listId : null]);
  // A form for a deleted list is reported as an error instead.
  if (!form || (status === 200 && listId && !form.list_id)) throw notFound();
  const company = await pageCompany(companyId);
  const t = catalogueFor(ctx.meta.http?.acceptLanguage ?? "", company.language);
  const fields = fieldsOf(t, form.form_attributes, again);
  const destination = destinationOf(again);
  const values = {
    company,
    fields,
    list: form.list ?? undefined,
    kept: {
      ...(form.list_id ? { list_id: form.list_id } : {}),
      ...(destination === undefined ? {} : { redirect_url: destination }),
    },
    problems: problemsOf(t, again, [...fields.map(({ name }) => name)]),
    trap: TRAP_ATTRIBUTES,
  };
  const leadsTo = destination === undefined ? undefined : new URL(destination).origin;
  return page("subscribe", ctx.meta.http, values, { status, leadsTo });
}

export async function subscribePage(ctx: Ctx<ParamsOf<"tracking.subscribePage">>): Promise<Document> {
  const { company_id, list } = ctx.params;
  return formPage(ctx, { company_id, list_id: list, typed: {}, errors: {}, status: 200 });
}

/** Shows the form again with its values after an error. */
export const subscribeAgain = (ctx: Ctx<Again>): Promise<Document> => formPage(ctx, ctx.params);
