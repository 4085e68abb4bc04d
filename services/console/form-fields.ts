/** Fields as views/fields.njk shows them, and pages that are one form (views/form.njk). */
import type { Errors } from "./form-errors.ts";
import { messages } from "./messages.ts";
import type { Answer } from "./request.ts";

export interface Field {
  name: string;
  label: string;
  /** A type of `input`, several lines, one of `options`, or yes and no. */
  kind: "text" | "email" | "url" | "number" | "password" | "color" | "lines" | "choice" | "check";
  value?: string | number | boolean | null;
  hint?: string;
  /** Of the `input`; true stands for one without a value. */
  attributes?: Record<string, string | number | true>;
  options?: readonly { value: string; label: string }[];
}

/** A number as it was typed. What is none goes to the action as it is: the action says what is wrong with it. */
export function numberOf(text: string): number {
  const number = Number(text);
  return text.trim() !== "" && Number.isFinite(number) ? number : (text as unknown as number);
}

/** As people choose one: browsers offer a strong one, and the API refuses what is shorter. */
export const newPasswordField = (name: string, label: string, hint: string): Field => ({
  name,
  label,
  hint,
  kind: "password",
  attributes: { autocomplete: "new-password", minlength: 10, maxlength: 1024, required: true },
});

/** Longest first or last name of the API. */
const MAX_NAME = 150;

/** A person's own names, none of which anybody must give. */
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
  /** Values that go along. */
  unseen?: Record<string, string>;
  /** Without it there is no form: only what is said, and the ways on. */
  button?: string;
  danger?: boolean;
  /** Another thing to do with the same values. */
  second?: { label: string; action: string };
  errors?: Errors;
  /** Where else a person may want to go. */
  ways?: { label: string; href: string }[];
  status?: number;
}

/** What belongs to no field that is shown stands above the form. */
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
