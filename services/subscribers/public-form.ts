/** Fields of a public form besides name and address, and its response: JSON for programs, a page for people. */

import { Company } from "../../models/company.ts";
import { call } from "../call.ts";
import type { Validate } from "../define.ts";
import { addressText } from "../lib/address.ts";
import { type Attributes, type AttributeValue, attributesError, MAX_TEXT, MAX_TEXTS } from "../lib/attributes.ts";
import type { Caller, Ctx } from "../lib/caller.ts";
import type { FieldErrors } from "../lib/errors.ts";
import { parseAccept } from "../lib/i18n/languages.ts";
import type { Document } from "../lib/shapes.ts";
import { TRAP_FIELD } from "../lib/trap-field.ts";
import { READ_ONLY_FIELDS, unknownFieldErrors } from "../lib/unknown-fields.ts";
import { subscribers } from "./contract-subscribers.ts";

type FormValues = Readonly<Record<string, unknown>>;

const FIELDS = Object.keys(subscribers.subscribe.params.properties).filter((name) => name !== "company_id");
const NOT_UNKNOWN = new Set<string>([...FIELDS, "company_id", ...READ_ONLY_FIELDS]);

const isText = (value: unknown) => typeof value === "string" && value.length <= MAX_TEXT;

function isAttribute(value: unknown): value is AttributeValue {
  if (Array.isArray(value)) return value.length <= MAX_TEXTS && value.every(isText);
  return isText(value) || Number.isFinite(value) || typeof value === "boolean";
}

/** Finds the form field of an attribute: the same name, or the only one that differs by case alone. */
function fieldOf(given: FormValues, name: string, declared: readonly string[]): string | undefined {
  if (Object.hasOwn(given, name)) return name;
  const lower = name.toLowerCase();
  const others = Object.keys(given).filter(
    (field) => field.toLowerCase() === lower && !declared.includes(field) && !NOT_UNKNOWN.has(field),
  );
  return others.length === 1 ? others[0] : undefined;
}

/** Declared attributes with their form fields. */
const fieldsOf = (given: FormValues, declared: readonly string[]): (readonly [name: string, field: string])[] =>
  declared.flatMap((name) => {
    const field = fieldOf(given, name, declared);
    return field === undefined ? [] : [[name, field] as const];
  });

/** Declared attributes that were filled in. */
export const attributesIn = (given: FormValues, declared: readonly string[]): Attributes =>
  Object.fromEntries(
    fieldsOf(given, declared)
      .map(([name, field]) => [name, given[field]] as const)
      .filter((entry): entry is readonly [string, AttributeValue] => entry[1] !== "" && isAttribute(entry[1])),
  );

/** The hidden field is filled in by bots only. Forms send no objects, and an object might not convert to text. */
export const isTrapped = (given: FormValues): boolean =>
  [given.website, given[TRAP_FIELD]].some(
    (value) => value !== undefined && value !== null && (typeof value === "object" || String(value).trim() !== ""),
  );

function mayLeadTo(text: string, hosts: readonly string[]): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  const { host, hostname, username, password } = new URL(text);
  return username === "" && password === "" && (hosts.includes(host) || hosts.includes(hostname));
}

function attributeErrors(given: FormValues, declared: readonly string[]): FieldErrors {
  const wrong = fieldsOf(given, declared)
    .map(([, field]) => field)
    .filter((field) => given[field] !== undefined && given[field] !== null && !isAttribute(given[field]));
  const errors = Object.fromEntries(wrong.map((field) => [field, ["Not a valid string."]]));
  const error = attributesError(attributesIn(given, declared));
  return error ? { ...errors, non_field_errors: [error] } : errors;
}

/** `validate` of public subscribe. Does not reveal whether the company exists. */
export const formErrors: Validate<typeof subscribers.subscribe> = async (ctx, isValid) => {
  const given = ctx.params as FormValues;
  const company = isValid("company_id")
    ? await Company.findByPk(ctx.params.company_id, { attributes: ["formAttributes", "formHosts"] })
    : null;
  if (!company) return {};
  const { formAttributes, formHosts } = company;
  const fields = new Set(fieldsOf(given, formAttributes).map(([, field]) => field));
  const others = Object.keys(given).filter((name) => !NOT_UNKNOWN.has(name) && !fields.has(name));
  const { redirect_url } = ctx.params;
  const strays = isValid("redirect_url") && redirect_url && !mayLeadTo(redirect_url, formHosts);
  return {
    ...unknownFieldErrors(others, [...FIELDS, ...formAttributes], "all"),
    ...attributeErrors(given, formAttributes),
    ...(strays ? { redirect_url: ["The host of this URL is not one of the company's form_hosts."] } : {}),
  };
};

const isForm = (http: Caller["http"]) =>
  /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\b/i.test(http?.contentType ?? "");

function prefersPage(http: Caller["http"]): boolean {
  const weight = (type: string) => parseAccept(http?.accept ?? "").find(({ tag }) => tag === type)?.weight ?? 0;
  return isForm(http) && weight("text/html") > weight("application/json");
}

interface Answered {
  company_id: string;
  email: string;
  redirect_url?: string;
}

/** The response depends on the company and the form only, never on the address. */
export async function formAnswer(ctx: Ctx<Answered>, { asksToConfirm }: { asksToConfirm: boolean }): Promise<Document> {
  const { company_id, email, redirect_url } = ctx.params;
  const { http } = ctx.meta;
  if (redirect_url && isForm(http)) {
    return { status: 303, content_type: "text/plain", body: "", headers: { location: new URL(redirect_url).href } };
  }
  if (prefersPage(http)) {
    return call(ctx, "tracking.subscribedPage", {
      company_id,
      email: addressText(email),
      asks_to_confirm: asksToConfirm,
    });
  }
  const detail = asksToConfirm
    ? "Thank you. Please follow the link in the email we sent you to confirm."
    : "Thank you.";
  return { content_type: "application/json; charset=utf-8", body: JSON.stringify({ detail }) };
}
