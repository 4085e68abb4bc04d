/**
 * Maps company settings to form fields and back. Invalid text is passed to the action unchanged, so that the action
 * reports the error.
 */
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import type { Errors } from "./form-errors.ts";
import { type Field, numberOf } from "./form-fields.ts";

type Company = ReturnsOf<"accounts.getCompany">;
type Changes = Omit<ParamsOf<"accounts.updateCompany">, "id">;

/**
 * Meaning of an empty field: "" (text), null (nullable), or an error that the action reports (number). `list`: one
 * entry per line.
 */
type Value = "text" | "nullable" | "number" | "nullable number" | "check" | "list";

export interface Setting {
  /** Name of the API field; a dot selects a field of an object. */
  name: string;
  value: Value;
  label: string;
  hint?: string;
  pick?: string;
  /** Kind of the form field, if it does not follow from `value`. */
  kind?: Field["kind"];
  attributes?: NonNullable<Field["attributes"]>;
  options?: NonNullable<Field["options"]>;
  /** Value shown if the company has none. */
  otherwise?: string;
}

const KINDS: Record<Value, Field["kind"]> = {
  text: "text",
  nullable: "text",
  number: "number",
  "nullable number": "number",
  check: "check",
  list: "lines",
};

const stored = (company: Company, name: string): unknown =>
  name.split(".").reduce<unknown>((at, key) => (at as Record<string, unknown> | null)?.[key], company);

function givenValue({ name, value, otherwise }: Setting, form: Record<string, string>): unknown {
  const text = form[name] ?? "";
  switch (value) {
    case "check":
      return form[name] !== undefined;
    case "list":
      return text.split(/[\s,]+/).filter((part) => part !== "");
    case "number":
      return numberOf(text);
    case "nullable number":
      return text.trim() === "" || text === otherwise ? null : numberOf(text);
    case "nullable":
      return text.trim() === "" || text === otherwise ? null : text.trim();
    default:
      // Browsers send line breaks as CRLF.
      return text.replaceAll("\r\n", "\n");
  }
}

/** Returns only changed fields, because the audit log lists the fields of the request. */
export function changesOf(settings: readonly Setting[], company: Company, form: Record<string, string>): Changes {
  const changes: Record<string, unknown> = {};
  for (const setting of settings) {
    const given = givenValue(setting, form);
    if (JSON.stringify(given) === JSON.stringify(stored(company, setting.name) ?? null)) continue;
    const [field, key] = setting.name.split(".") as [string, string?];
    changes[field] = key === undefined ? given : { ...(changes[field] as object | undefined), [key]: given };
  }
  return changes as Changes;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  return Array.isArray(value) ? value.join("\n") : String(value);
}

/** `typed`: a submitted form, shown instead of the stored values. */
export function fieldsOf(settings: readonly Setting[], company: Company, typed?: Record<string, string>): Field[] {
  return settings.map(({ value, kind = KINDS[value], otherwise = "", name, ...shown }) => {
    const field: Field = { ...shown, name, kind };
    const now = stored(company, name);
    if (value === "check") return { ...field, value: typed ? typed[name] !== undefined : now === true };
    return { ...field, value: typed ? (typed[name] ?? "") : textOf(now) || otherwise };
  });
}

/** Moves errors of nested fields, which the API reports at the object with the key in front, to their form fields. */
export function errorsAt(errors: Errors): Errors {
  const placed: Errors = {};
  for (const [field, sentences] of Object.entries(errors)) {
    for (const sentence of sentences) {
      const [, key, rest] = /^([a-z_]+): (.+)$/s.exec(sentence) ?? [];
      const isWithin = key !== undefined && ["branding", "guard", "retention_days"].includes(field);
      const name = isWithin ? `${field}.${key}` : field;
      placed[name] = [...(placed[name] ?? []), isWithin ? rest! : sentence];
    }
  }
  return placed;
}
