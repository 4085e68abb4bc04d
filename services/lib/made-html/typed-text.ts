/**
 * Converts typed plain text to HTML and back: paragraphs, line breaks, lists and links in a default layout. HTML stays
 * as it is. Pure.
 */
import { escapeHtml, unescapeHtml } from "../escape-html.ts";
import { compileTemplate } from "../template/compile.ts";

/** Start of a tag or comment, which does not occur in typed letters. `[[[…]]]` may insert some. */
const BEGINS_MARKUP = /<\/?[a-z]|<!|\[\[\[/i;

function hasMarkup(text: string): boolean {
  const at = text.search(BEGINS_MARKUP);
  return at >= 0 && (text[at] === "[" || text[at + 1] === "!" || text.includes(">", at) || /<!|\[\[\[/.test(text));
}

/** True for a text without any tag, which an email client would show as one run of words. */
export const isTypedText = (body: string): boolean => body.trim() !== "" && !hasMarkup(body);

const TAG = "\\[\\[[^\\]\\n]*\\]{2,3}";
/** A variable, which stays as typed; or a URL, without the full stop of its sentence. */
const APART = new RegExp(`((?:https?://|\\bwww\\.)(?:${TAG}|[^\\s<>"'[\\]])*(?:${TAG}|[^\\s<>"'[\\].,;:!?)])|${TAG})`);

/** Tags are not text: escaping inside them would change their names. */
const escaped = (text: string) =>
  text
    .split(new RegExp(`(${TAG})`))
    .map((piece, n) => (n % 2 === 0 ? escapeHtml(piece) : piece))
    .join("");

function withoutMarkup(apart: string): string {
  if (apart.startsWith("[[")) return apart;
  const address = escaped(apart);
  return `<a href="${/^https?:/.test(apart) ? "" : "https://"}${address}">${address}</a>`;
}

const inline = (text: string) =>
  text
    .split(APART)
    .map((piece, n) => (n % 2 === 0 ? escapeHtml(piece) : withoutMarkup(piece)))
    .join("");

const ITEM = /^[ \t]*[-*•][ \t]+/;

/**
 * Groups lines between empty ones: consecutive items form a list, other lines a paragraph. A line break in the HTML
 * stands for an empty line, so that `typedTextOf` restores it.
 */
function blockOf(text: string): string {
  const runs: { isList: boolean; lines: string[] }[] = [];
  for (const line of text.split("\n")) {
    const isList = ITEM.test(line);
    const last = runs.at(-1);
    if (last?.isList === isList) last.lines.push(line);
    else runs.push({ isList, lines: [line] });
  }
  return runs
    .map(({ isList, lines }) =>
      isList
        ? `<ul>\n${lines.map((line) => `<li>${inline(line.replace(ITEM, "").trimEnd())}</li>`).join("\n")}\n</ul>`
        : `<p>${inline(lines.join("\n").trim()).replaceAll("\n", "<br>\n")}</p>`,
    )
    .join("");
}

/** Converts without the layout. */
export const blocksOfTyped = (typed: string): string =>
  typed
    .replaceAll("\r\n", "\n")
    .split(/\n[ \t]*\n/)
    .filter((text) => text.trim() !== "")
    .map((text) => blockOf(text.replace(/^\n+|\s+$/g, "")))
    .join("\n");

const BOX = "max-width:600px;margin:0 auto;padding:24px;font:16px/1.5 Arial,Helvetica,sans-serif;color:#1f2328";

const withLayout = (blocks: string) => `<!doctype html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
</head>
<body style="margin:0;background:#ffffff">
<div style="${BOX}">
${blocks}
</div>
</body>
</html>
`;

/** A text with a syntax error stays unchanged, so that the error names the line that was typed. */
export const htmlOfTyped = (typed: string): string =>
  isTypedText(typed) && !compileTemplate(typed, "text").errors ? withLayout(blocksOfTyped(typed)) : typed;

const [BEFORE, AFTER] = withLayout("\n").split("\n\n\n") as [string, string];

const unescaped = (text: string) =>
  text
    .split(new RegExp(`(${TAG})`))
    .map((piece, n) => (n % 2 === 0 ? unescapeHtml(piece) : piece))
    .join("");

const wordsOf = (html: string) => unescaped(html.replace(/<a href="[^"]*">([^<]*)<\/a>/g, "$1"));

/** Text of a paragraph or list, after the line breaks that separate it from what precedes it. */
function textOfBlock(block: string, n: number, before: readonly string[]): string {
  const items = [...block.matchAll(/<li>([^\n]*)<\/li>/g)].map(([, item]) => `- ${wordsOf(item!)}`);
  const text = block.startsWith("<ul>")
    ? items.join("\n")
    : wordsOf(block.replace(/^<p>|<\/p>\n?$/g, "").replaceAll("<br>\n", "\n"));
  return `${n === 0 ? "" : before[n - 1]!.endsWith("\n") ? "\n\n" : "\n"}${text}`;
}

/** The text that `htmlOfTyped` converted to this HTML; any other HTML unchanged. */
export function typedTextOf(html: string): string {
  const text = html.replaceAll("\r\n", "\n").trim();
  const [start, end] = [`${BEFORE}\n`, `\n${AFTER.trimEnd()}`];
  if (!text.startsWith(start) || !text.endsWith(end)) return html;
  const blocks = text.slice(start.length, -end.length).split(/(?<=<\/p>\n?|<\/ul>\n?)(?=<p>|<ul>)/);
  const typed = blocks.map(textOfBlock).join("");
  return htmlOfTyped(typed).trim() === text ? typed : html;
}
