/** Converts an A/B test between form rows, of which empty ones are ignored, and a draft's variants. Pure. */
import { htmlOfTyped } from "../../../lib/made-html/typed-text.ts";
import { numberOf } from "../../form-fields.ts";
import { type Body, isObject, letterOf, textIn } from "./draft.ts";

const MIN_ROWS = 2;
export const MAX_ROWS = 5;
/** Select value for a version whose text is written in the form, beside the ids of templates. */
const WRITTEN = "written";

type Form = Record<string, string>;

/** Number of rows in the form, including one that was requested. */
export const rowsAskedFor = (form: Form): number =>
  Object.keys(form).filter((name) => /^variant\.\d\.percent$/.test(name)).length + (form.do === "add" ? 1 : 0);

const itemsOf = (list: unknown): Body[] => (Array.isArray(list) ? list.map((one) => (isObject(one) ? one : {})) : []);

/** Keeps content fields that the form does not show if its text did not change. */
function contentOf(row: Record<"subject" | "preheader" | "body", string>, before: unknown): Body {
  const body = htmlOfTyped(row.body);
  const kept = isObject(before) && (before.body ?? "") === body ? before : {};
  const { subject: _subject, preheader: _preheader, ...others } = kept;
  const texts = Object.entries({ subject: row.subject, preheader: row.preheader, body });
  return { ...others, ...Object.fromEntries(texts.filter(([, text]) => text !== "")) };
}

/**
 * Returns the changes to a draft's body; removes the test if it is not wanted. Keeps invalid numbers, so that the API
 * refuses them.
 */
export function variantsOf(form: Form, { variants: before }: Body): Body {
  if (form.ab !== "on") return { variants: undefined, winner: undefined };
  const rows = Array.from({ length: MAX_ROWS }, (_, n) => {
    const field = (name: string) => (form[`variant.${n}.${name}`] ?? "").trim();
    const [subject, chosen, percent] = [field("subject"), field("template_id"), field("percent")];
    const written = { subject, preheader: field("preheader"), body: field("body") };
    return { subject, chosen, percent, content: contentOf(written, itemsOf(before)[n]?.content) };
  }).filter(({ subject, chosen, percent }) => subject !== "" || chosen !== "" || percent !== "");
  const variants = rows.map(({ subject, chosen, percent, content }) => ({
    ...(chosen === WRITTEN ? { content } : {}),
    ...(chosen !== WRITTEN && subject !== "" ? { subject } : {}),
    ...(chosen !== WRITTEN && chosen !== "" ? { template_id: chosen } : {}),
    ...(percent === "" ? {} : { percent: numberOf(percent) }),
  }));
  const hours = numberOf(form.after_hours ?? "");
  const winner =
    form.winner === "opens" || form.winner === "clicks"
      ? { metric: form.winner, after_minutes: Number.isFinite(hours) ? Math.round(hours * 60) : hours }
      : undefined;
  return { variants, winner };
}

interface VariantRow {
  letter: string;
  subject: string;
  /** Template id, `written`, or empty for the campaign's content. */
  chosen: string;
  preheader: string;
  body: string;
  percent: string;
}

function rowOf(variant: Body, n: number): VariantRow {
  const content = isObject(variant.content) ? variant.content : undefined;
  return {
    letter: letterOf(n),
    subject: textIn(variant, "subject") || textIn(content ?? {}, "subject"),
    chosen: content ? WRITTEN : textIn(variant, "template_id"),
    preheader: textIn(content ?? {}, "preheader"),
    body: textIn(content ?? {}, "body"),
    percent: variant.percent === undefined ? "" : `${variant.percent}`,
  };
}

/** Reads the rows of a draft. */
export const variantsIn = ({ variants }: Body): VariantRow[] => itemsOf(variants).map(rowOf);

/** Rows of the form: at least two, with equal shares unless others are given. */
export function rowsIn({ variants }: Body, asked = 0): VariantRow[] {
  const items = itemsOf(variants);
  const length = Math.min(MAX_ROWS, Math.max(MIN_ROWS, items.length, asked));
  return Array.from({ length }, (_, n) =>
    rowOf(items[n] ?? (variants === undefined && n < MIN_ROWS ? { percent: 50 } : {}), n),
  );
}

export function winnerIn({ winner }: Body): { metric: string; hours: string } {
  const given = isObject(winner) ? winner : {};
  const { after_minutes: minutes } = given;
  const hours = typeof minutes === "number" ? `${minutes / 60}` : minutes === undefined ? "" : `${minutes}`;
  return { metric: textIn(given, "metric"), hours };
}
