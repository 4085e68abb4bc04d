/** An A/B test as the form has it, whose empty versions do not count, and as a draft keeps it. Pure. */
import { htmlOfTyped } from "../../../lib/made-html/typed-text.ts";
import { numberOf } from "../../form-fields.ts";
import { type Body, isObject, letterOf, textIn } from "./draft.ts";

const MIN_ROWS = 2;
export const MAX_ROWS = 5;
/** Choice of a version whose text is written in the form, beside the templates' ids. */
const WRITTEN = "written";

type Form = Record<string, string>;

/** Versions that the form shows: those that it had, and one more where that is asked for. */
export const rowsAskedFor = (form: Form): number =>
  Object.keys(form).filter((name) => /^variant\.\d\.percent$/.test(name)).length + (form.do === "add" ? 1 : 0);

const itemsOf = (list: unknown): Body[] => (Array.isArray(list) ? list.map((one) => (isObject(one) ? one : {})) : []);

/** Keeps what the form does not show of a content whose text did not change. */
function contentOf(row: Record<"subject" | "preheader" | "body", string>, before: unknown): Body {
  const body = htmlOfTyped(row.body);
  const kept = isObject(before) && before.body === body ? before : {};
  const { subject: _subject, preheader: _preheader, ...others } = kept;
  const texts = Object.entries({ subject: row.subject, preheader: row.preheader, body });
  return { ...others, ...Object.fromEntries(texts.filter(([, text]) => text !== "")) };
}

/** The changes to a draft's body: no test where it is not asked for. Numbers that are none are kept for the API to refuse. */
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
  /** A template's id, `written`, or empty: as the campaign. */
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

/** Those of the draft. */
export const variantsIn = ({ variants }: Body): VariantRow[] => itemsOf(variants).map(rowOf);

/** As the form shows them: at least two, which share the recipients until something else is typed. */
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
