/**
 * Compiles an MJML template to the HTML that is sent. While mrml runs, placeholders stand for the template's `[[…]]`
 * and for the contents of texts, tables and buttons, which MJML leaves unparsed but mrml would parse. A condition or
 * loop may also be placed between components.
 */
import { compileTemplate, lineAndColumn } from "../template/compile.ts";
import type { TemplateError } from "../template/lexer.ts";
import { TagsAside } from "../template/tags-aside.ts";
import { corrected, roleMark, withRoles } from "./corrected.ts";
import { withInlinedCss } from "./inline-css.ts";
import { type MjmlOutline, mjmlOutlineOf } from "./mjml-outline.ts";
import { mrmlOf } from "./mrml.ts";

export type MadeHtml = { html: string; errors?: undefined } | { html?: undefined; errors: string[] };

const IS_INLINE = /\sinline\s*=\s*(?:"inline"|'inline')/i;
/** Prefix of the comments that replace tags between components. */
const MARK = "flockmail ";
const COMMENT = new RegExp(`<!--${MARK}(\\w+)-->`, "g");

interface Prepared {
  source: string;
  /** Content of `<mj-style inline="inline">`: applied to elements and not kept in a sheet. */
  inlineCss: string;
  /** Maps a position of the prepared text to `source`. */
  positionOf(at: number): number;
}

/** Prepares the text for mrml. Never throws: text that is not allowed between components is reported. */
function prepared(
  tags: TagsAside,
  { raws, between, values, ends, withoutAlt }: MjmlOutline,
  errors: TemplateError[],
): Prepared {
  const { text } = tags;
  const styles = raws.filter(({ name, tag }) => name === "mj-style" && IS_INLINE.test(tag));
  const isCutOut = ({ start }: { start: number }) =>
    styles.some(({ element }) => element.start < start && start < element.end);
  const changes = [
    ...ends.filter((end) => !isCutOut(end)),
    ...raws.flatMap((raw) => {
      if (styles.includes(raw)) return [{ ...raw.element, by: "" }];
      const written = text.slice(raw.start, raw.end);
      // mrml also writes the title into an attribute, so its quotation marks are escaped.
      const content = raw.name === "mj-title" ? written.replaceAll('"', "&quot;") : written;
      return content.trim() === ""
        ? []
        : [{ start: raw.start, end: raw.end, by: tags.keep(roleMark(raw.name, raw.tag) + content) }];
    }),
    ...between.map(({ start, end }) => {
      const words = text.slice(start, end);
      if (tags.withoutWords(words).trim() !== "") {
        const at = start + words.search(/\S/);
        errors.push({ sentence: "Text outside of <mj-text> or a similar element", at: tags.positionOf(at) });
      }
      // mrml treats some white space as text.
      if (words.trim() === "") return { start, end, by: "" };
      // mrml accepts a comment wherever a component is allowed, and only there.
      return { start, end, by: `<!--${MARK}${words.replace(/\s+/g, "")}-->` };
    }),
    ...withoutAlt.map((at) => ({ start: at, end: at, by: ' alt=""' })),
    ...values
      .filter((value) => !isCutOut(value))
      .map(({ start, end }) => ({ start, end, by: tags.keep(text.slice(start, end).replaceAll('"', "&quot;")) })),
  ].toSorted((a, b) => a.start - b.start);
  let source = "";
  let position = 0;
  const moves: { at: number; by: number }[] = [];
  for (const { start, end, by } of changes) {
    source += text.slice(position, start) + by;
    position = end;
    moves.push({ at: source.length, by: end - source.length });
  }
  source += text.slice(position);
  return {
    source,
    inlineCss: styles.map(({ start, end }) => text.slice(start, end)).join("\n"),
    positionOf: (at) => at + (moves.findLast((move) => move.at <= at)?.by ?? 0),
  };
}

type Failure = Exclude<ReturnType<typeof mrmlOf>, undefined> & { type: "error" };

/** Index in `source` at which mrml stopped. mrml reports it in bytes, or as line and column. */
function failedAt(failure: Failure, source: string): number | undefined {
  if (failure.origin !== "parser") return undefined;
  const { details } = failure;
  if ("position" in details) return Buffer.from(source).subarray(0, details.position.start).toString().length;
  const [, line, column] = (details.type === "parser-error" && /at (\d+):(\d+)/.exec(details.source)) || [];
  if (!line) return undefined;
  const before = source.split("\n").slice(0, Number(line) - 1);
  return before.reduce((sum, text) => sum + text.length + 1, 0) + Number(column) - 1;
}

function sentenceOf(failure: Failure): string {
  if (failure.origin !== "parser") return `The template cannot be compiled to HTML (${failure.message})`;
  const { details } = failure;
  if (details.type === "parser-error") return `This is not valid MJML (${details.source.replace(/ at \d+:\d+/g, "")})`;
  if (details.type === "missing-attribute") return `The attribute "${details.name}" is missing`;
  return details.type === "unexpected-element"
    ? "This element is not allowed here"
    : `This is not valid MJML (${details.type})`;
}

const placed = (errors: readonly TemplateError[], template: string): MadeHtml => ({
  errors: errors.map(({ sentence, at }) => `${sentence} at ${lineAndColumn(template, at)}.`),
});

/**
 * Returns the first tag of a condition or loop, or of its end, that MJML left out of the HTML: without it the template
 * would mean something else.
 */
function lostFrom(tags: TagsAside, html: string): string | undefined {
  const found = new Set(tags.blocksIn(html));
  const lost = tags.blocksIn(tags.text).find((block) => !found.has(block));
  return lost === undefined ? undefined : tags.tagOf(lost);
}

/** Compiles; the error sentences name lines and columns of the template. Never throws. */
export function htmlOfMjml(template: string): MadeHtml {
  const compiled = compileTemplate(template, "text");
  if (compiled.errors) return { errors: compiled.errors };
  const tags = new TagsAside(template);
  const outline = mjmlOutlineOf(tags.text);
  const errors = outline.errors.map(({ sentence, at }) => ({ sentence, at: tags.positionOf(at) }));
  if (errors.length > 0) return placed(errors, template);
  const { source, inlineCss, positionOf } = prepared(tags, outline, errors);
  if (errors.length > 0) return placed(errors, template);
  const result = mrmlOf(source);
  if (!result) return { errors: ["The template is too large: compiling it takes too much memory."] };
  if (result.type === "error") {
    const at = failedAt(result, source);
    const sentence = sentenceOf(result);
    return at === undefined
      ? { errors: [`${sentence}.`] }
      : placed([{ sentence, at: tags.positionOf(positionOf(at)) }], template);
  }
  // lang="und" (unknown) is removed, so that email clients and screen readers detect the language.
  const content = corrected(result.content.replace(COMMENT, "$1").replaceAll(' lang="und"', ""));
  const lost = lostFrom(tags, tags.withParts(content) + inlineCss);
  if (lost) return { errors: [`${lost} is not allowed in this place: MJML would leave it out.`] };
  const html = withRoles(tags.restored(content));
  if (!inlineCss) return { html };
  return { html: withInlinedCss(html, { extraCss: tags.restored(inlineCss), appliesSheets: false }) };
}
