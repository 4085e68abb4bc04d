/** Converts an A/B test between form rows, of which empty ones are ignored, and a draft's variants. Pure. */
import { htmlOfTyped, typedTextOf } from "../../../lib/made-html/typed-text.ts";
import { numberOf } from "../../form-fields.ts";
import { type Body, contentIn, hasDesign, hasText, isObject, letterOf, textIn } from "./draft.ts";

const MIN_ROWS = 2;
export const MAX_ROWS = 5;
/** Select value for a version whose text is written in the form, beside the ids of templates. */
export const WRITTEN = "written";

type Form = Record<string, string>;

/** Number of rows in the form, including one that was requested. */
export const rowsAskedFor = (form: Form): number =>
  Object.keys(form).filter((name) => /^variant\.\d\.percent$/.test(name)).length + (form.do === "add" ? 1 : 0);

/** Versions of a draft, as they are stored. */
export const versionsOf = ({ variants }: Body): Body[] =>
  Array.isArray(variants) ? variants.map((one) => (isObject(one) ? one : {})) : [];

/** Content that a version sends: its own template or content, otherwise the campaign's, with the version's subject. */
export function sourceOf(body: Body, n: number): Body {
  const version = versionsOf(body)[n] ?? {};
  const isSource = (one: Body) => textIn(one, "template_id") !== "" || isObject(one.content);
  const source = [version, body].find(isSource) ?? body;
  const { template_id } = source;
  const { subject } = version;
  const content = template_id === undefined ? contentIn(source) : { template_id };
  return { ...content, ...(subject === undefined ? {} : { subject }) };
}

/** Buttons that save what the form says, also if that removes a design. All other ways to save keep designs. */
export const isFinal = ({ do: button = "next" }: Form) => button === "next" || button === "later";

const chosenIn = (form: Form, n: number): string => (form[`variant.${n}.template_id`] ?? "").trim();

/** Whether the campaign's design stays, although the form names a template. */
export const holdsOwn = (form: Form, body: Body): boolean =>
  !isFinal(form) && hasDesign(body) && form.content !== "own";

/** Whether designs of versions stay, although the form would remove them. */
export const holdsVersions = (form: Form, body: Body): boolean =>
  !isFinal(form) &&
  versionsOf(body).some((one, n) => hasDesign(one) && (form.ab !== "on" || chosenIn(form, n) !== WRITTEN));

/**
 * Whether versions were typed in although the test is off. With the script, typing in them switches the test on, so that
 * it is off only if somebody switched it off.
 */
export function contradicts(form: Form, body: Body): boolean {
  if (form.ab === "on" || form.ab_follows === "yes" || form.do === "autosave") return false;
  const rows = rowsIn(body, MAX_ROWS);
  const { metric, hours } = winnerIn(body);
  const same = (given: string | undefined, shown: string) =>
    given === undefined || given.replaceAll("\r\n", "\n").trim() === shown.trim();
  const isRowShown = (row: VariantRow, n: number) =>
    same(form[`variant.${n}.template_id`], row.chosen) &&
    (["subject", "preheader", "body", "percent"] as const).every((name) =>
      same(form[`variant.${n}.${name}`], row[name]),
    );
  return !rows.every(isRowShown) || !same(form.winner, metric) || !same(form.after_hours, hours || "4");
}

/** Keeps content fields that the form does not show if its text did not change. A form from before the design keeps it. */
function contentOf(row: Record<"subject" | "preheader" | "body", string>, before: Body): Body {
  const isDesigned = isObject(before.design);
  const body = isDesigned ? textIn(before, "body") : htmlOfTyped(row.body);
  const kept = isDesigned || (before.body ?? "") === body ? before : {};
  const { subject: _subject, preheader: _preheader, ...others } = kept;
  const texts = Object.entries({ subject: row.subject, preheader: row.preheader, body });
  return { ...others, ...Object.fromEntries(texts.filter(([, text]) => text !== "")) };
}

/**
 * Returns the changes to a draft's body; removes the test if it is not wanted. Keeps invalid numbers, so that the API
 * refuses them. Empty rows stay until a final save, so that the others keep their numbers.
 */
export function variantsOf(form: Form, body: Body): Body {
  const before = versionsOf(body);
  const isKept = (n: number) => !isFinal(form) && hasDesign(before[n] ?? {});
  if (form.ab !== "on" && !before.some((_, n) => isKept(n))) return { variants: undefined, winner: undefined };
  const all = Array.from({ length: MAX_ROWS }, (_, n) => {
    const field = (name: string) => (form[`variant.${n}.${name}`] ?? "").trim();
    const [subject, percent] = [field("subject"), field("percent")];
    const chosen = isKept(n) ? WRITTEN : chosenIn(form, n);
    const written = { subject, preheader: field("preheader"), body: field("body") };
    const content = contentOf(written, form.do === `write.${n}` ? {} : contentIn(before[n] ?? {}));
    return { subject, chosen, percent, content };
  });
  const isFilled = ({ subject, chosen, percent }: (typeof all)[number]) =>
    subject !== "" || chosen !== "" || percent !== "";
  const rows = isFinal(form) ? all.filter(isFilled) : all.slice(0, all.findLastIndex(isFilled) + 1);
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

/** A campaign needs content: version A's becomes that of the campaign if there is no other. */
export function promoted(form: Form, changes: Body): Body {
  const [{ content, ...first } = {}, ...others] = versionsOf(changes);
  const isNeeded = isFinal(form) && isObject(content) && !changes.template_id && !hasText(changes);
  return isNeeded ? { ...changes, content, variants: [first, ...others] } : changes;
}

interface VariantRow {
  letter: string;
  hasDesign: boolean;
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
    hasDesign: hasDesign(variant),
    subject: textIn(variant, "subject") || textIn(content ?? {}, "subject"),
    chosen: content ? WRITTEN : textIn(variant, "template_id"),
    preheader: textIn(content ?? {}, "preheader"),
    body: typedTextOf(textIn(content ?? {}, "body")),
    percent: variant.percent === undefined ? "" : `${variant.percent}`,
  };
}

/** Reads the rows of a draft. */
export const variantsIn = (body: Body): VariantRow[] => versionsOf(body).map(rowOf);

/** Rows of the form: at least two, with equal shares unless others are given. */
export function rowsIn(body: Body, asked = 0): VariantRow[] {
  const items = versionsOf(body);
  const length = Math.min(MAX_ROWS, Math.max(MIN_ROWS, items.length, asked));
  return Array.from({ length }, (_, n) =>
    rowOf(items[n] ?? (body.variants === undefined && n < MIN_ROWS ? { percent: 50 } : {}), n),
  );
}

export function winnerIn({ winner }: Body): { metric: string; hours: string } {
  const given = isObject(winner) ? winner : {};
  const { after_minutes: minutes } = given;
  const hours = typeof minutes === "number" ? `${minutes / 60}` : minutes === undefined ? "" : `${minutes}`;
  return { metric: textIn(given, "metric"), hours };
}
