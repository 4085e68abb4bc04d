/** Fields as views/fields.njk shows them, and pages that are one form (views/form.njk). */
import type { Errors } from "./form-errors.ts";
import { messages } from "./messages.ts";
import type { Answer } from "./request.ts";

export interface Field {
  name: string;
  label: string;
  /** An `input` type, a textarea (`lines`), a select (`choice`) or a checkbox (`check`). */
  kind: "text" | "email" | "url" | "number" | "password" | "color" | "lines" | "choice" | "check";
  value?: string | number | boolean | null;
  hint?: string;
  /** Name of the button that opens the browser's choice of a color. */
  pick?: string;
  /** Attributes of the `input`; true for an attribute without a value. */
  attributes?: Record<string, string | number | true>;
  options?: readonly { value: string; label: string }[];
}

/** Parses a typed number. Returns other text unchanged, so that the action reports the error. */
export function numberOf(text: string): number {
  const number = Number(text);
  return text.trim() !== "" && Number.isFinite(number) ? number : (text as unknown as number);
}

/** Field for a new password. Browsers offer to generate a strong one; the API refuses short ones. */
export const newPasswordField = (name: string, label: string, hint: string): Field => ({
  name,
  label,
  hint,
  kind: "password",
  attributes: { autocomplete: "new-password", minlength: 10, maxlength: 1024, required: true },
});

/** Maximum length of first and last names in the API. */
export const MAX_NAME = 150;

/** First and last name, both optional. */
export const nameFields = (form: Record<string, string>): Field[] =>
  (["first_name", "last_name"] as const).map((name) => ({
    name,
    label: messages.signUp.names[name],
    kind: "text",
    value: form[name] ?? "",
    attributes: { autocomplete: name === "first_name" ? "given-name" : "family-name", maxlength: MAX_NAME },
  }));

export const passwordField = (name: string, label: string): Field => ({
  name,
  label,
  kind: "password",
  attributes: { autocomplete: "current-password", maxlength: 1024, required: true },
});

export const codeField = (label: string): Field => ({
  name: "code",
  label,
  kind: "text",
  attributes: { autocomplete: "one-time-code", maxlength: 64, required: true },
});

interface OneForm {
  title: string;
  intro?: string;
  action?: string;
  fields?: Field[];
  /** Hidden fields. */
  unseen?: Record<string, string>;
  /** Label of the submit button. Without it the page has no form, only its text and links. */
  button?: string;
  danger?: boolean;
  /** A second button that sends the same values to another action. */
  second?: { label: string; action: string };
  errors?: Errors;
  /** Links to related pages. */
  ways?: { label: string; href: string }[];
  status?: number;
}

/** Renders a page with one form. Errors that belong to no visible field are shown above the form. */
export function formPage({ title, status, errors = {}, fields = [], ...values }: OneForm): Answer {
  const shown = new Set(fields.map(({ name }) => name));
  const apart = Object.entries(errors).filter(([name]) => !shown.has(name));
  const above = apart.flatMap(([, sentences]) => sentences);
  return {
    view: "form",
    title,
    values: { ...values, fields, errors: { ...errors, "": above } },
    ...(status === undefined ? {} : { status }),
  };
}
