/** The editor's form: its API parameters, its preview reader, and the positions of its errors. */
import { TEMPLATE_MODES, type TemplateMode } from "../../../models/template.ts";
import type { ParamsOf } from "../../contracts.ts";
import { htmlOfTyped } from "../../lib/made-html/typed-text.ts";
import { findSubscriber } from "../find-subscriber.ts";
import type { Errors } from "../form-errors.ts";
import { messages } from "../messages.ts";
import { type CompanyVisit, callIn } from "../request.ts";

type Content = ParamsOf<"renderer.createTemplate">;
/** The form: its content is the template's Markdown or its body. */
export type Typed = {
  [Field in keyof Omit<Content, "design" | "markdown" | "template_mode">]-?: NonNullable<Content[Field]>;
} & { template_mode: TemplateMode | "markdown" };

const MODES = ["markdown", ...TEMPLATE_MODES] as const;
const TYPES = ["marketing", "transactional"] as const;

/** Normalises line breaks, which browsers always send as CRLF: otherwise versions would differ in every line. */
const plain = (text = "") => text.replaceAll("\r\n", "\n");

export const typedOf = (form: Record<string, string>): Typed => ({
  name: form.name ?? "",
  subject: form.subject ?? "",
  preheader: form.preheader ?? "",
  body: plain(form.body),
  text_body: plain(form.text_body),
  inline_css: form.inline_css !== undefined,
  template_mode: MODES.find((one) => one === form.template_mode) ?? "basic",
  template_type: TYPES.find((one) => one === form.template_type) ?? "marketing",
});

/** Converts the form to API parameters: empty fields are unset, and plain text becomes HTML. */
export function contentOf({ template_mode, body, preheader, text_body, ...typed }: Typed) {
  const html = template_mode === "mjml" ? body : htmlOfTyped(body);
  return {
    ...typed,
    ...(template_mode === "markdown" ? { markdown: body } : { template_mode, body: html }),
    preheader: preheader === "" ? null : preheader,
    text_body: text_body.trim() === "" ? null : text_body,
  };
}

/** Replaces other products' placeholders with ours and repairs links in the text fields. */
export async function convertedOf(visit: CompanyVisit, typed: Typed) {
  const { subject, preheader, body, text_body, template_mode } = typed;
  const texts = { subject, preheader, body, text_body };
  const mode = template_mode === "markdown" ? "basic" : template_mode;
  const converted = await callIn(visit, "renderer.convertContent", { ...texts, template_mode: mode });
  return { ...converted, template_mode: template_mode === "markdown" ? template_mode : converted.template_mode };
}

/** Returns whether converting changes anything. */
export async function isConvertible(visit: CompanyVisit, typed: Typed): Promise<boolean> {
  const converted = await convertedOf(visit, typed);
  return Object.entries(converted).some(([field, text]) => typed[field as keyof typeof converted] !== text);
}

const SAMPLE = { email: "ann@example.com", first_name: "Ann", last_name: "Example" };

interface Reader {
  variables: Record<string, unknown>;
  /** True if no subscriber has the address. */
  isMissing: boolean;
}

export async function readerOf(visit: CompanyVisit, address = ""): Promise<Reader> {
  if (address.trim() === "") return { variables: SAMPLE, isMissing: false };
  const found = await findSubscriber(visit, address);
  return found
    ? { variables: { ...found.values, email: found.email }, isMissing: false }
    : { variables: SAMPLE, isMissing: true };
}

export interface Problem {
  label: string;
  sentence: string;
  field: string;
  line: number | null;
  /** Content of the line. */
  source: string | null;
}

const MAX_SOURCE = 120;

const labels: Record<string, string> = {
  name: messages.templates.name,
  subject: messages.templates.subject,
  preheader: messages.templates.preheader,
  body: messages.templates.body,
  text_body: messages.templates.text,
};

/** Adds the source line that each error names, for fields with several lines. */
export function problemsOf(errors: Errors, typed: Typed): Problem[] {
  return Object.entries(errors).flatMap(([name, sentences]) => {
    const field = name === "markdown" ? "body" : name;
    const text = field === "body" || field === "text_body" ? typed[field] : null;
    return sentences.map((sentence) => {
      const [, no] = (text !== null && /\bline (\d+)\b/.exec(sentence)) || [];
      const line = no === undefined ? null : Number(no);
      const source = line === null ? "" : (text!.split("\n")[line - 1] ?? "").trim();
      return {
        label: labels[field] ?? "",
        field,
        sentence,
        line,
        source: source === "" ? null : source.slice(0, MAX_SOURCE).toWellFormed(),
      };
    });
  });
}
