/**
 * Converts an HTML body to plain text as a template, once per campaign. Tags pass through html-to-text as private-use
 * characters and keep their positions, so that each recipient's values can be inserted later.
 */
import { convert, type HtmlToTextOptions } from "html-to-text";
import type { Tag, Token } from "../../lib/template/lexer.ts";
import { type MarkToken, type Node, parse } from "../../lib/template/parser.ts";
import { joinedLines } from "./line-breaks.ts";
import { formatImage, formatLink } from "./text-images.ts";

/** Private-use characters around a tag's number. Removed from the source first. */
const OPEN = "\ue0f0";
const CLOSE = "\ue0f1";
const PLACEHOLDER = /\ue0f0(\d+)\ue0f1/;
const RESERVED = /[\ue0f0\ue0f1]/g;

const ownLine = { options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } };
const heading = { options: { uppercase: false } };
const options: HtmlToTextOptions = {
  wordwrap: false,
  // Converts everything, not only the first `<body>`: the footer may follow one that is closed within a condition.
  baseElements: { selectors: [], returnDomByDefault: true },
  limits: { maxInputLength: 1_100_000, maxDepth: 200 },
  formatters: {
    image: formatImage,
    anchor: formatLink,
    cell: (element, walk, builder) => {
      walk(element.children, builder);
      builder.addInline(" ");
    },
  },
  selectors: [
    { selector: "style", format: "skip" },
    { selector: "script", format: "skip" },
    { selector: "title", format: "skip" },
    // Most tables in emails are layout, so columns are not aligned with spaces; table rows stay separate lines.
    ...["td", "th"].map((selector) => ({ selector, format: "cell" })),
    ...["tr", "caption", "dt", "dd"].map((selector) => ({ selector, format: "block", ...ownLine })),
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, ...heading })),
  ],
};

/** Remains of a layout's empty rows and paragraphs. */
const SPACERS = /\n(?:[ \u00a0]*\n){3,}/g;

/** Numbers the tags. Equal values share a number, so that a link whose text is its address is written once. */
function numbering() {
  const tags: Tag[] = [];
  const values = new Map<string, number>();
  const numberOf = (tag: Tag): number => {
    const key = tag.type === "value" ? JSON.stringify({ ...tag, at: 0 }) : "";
    const cached = values.get(key);
    if (cached !== undefined) return cached;
    if (key) values.set(key, tags.length);
    return tags.push(tag) - 1;
  };
  return { tags, numberOf };
}

/** The mailbox of a `mailto:` is written without its scheme, to be read. */
function readable(tag: Tag): Tag {
  if (tag.type !== "value" || tag.urlEncoded !== "mailbox") return tag;
  const { urlEncoded: _, ...plain } = tag;
  return plain;
}

/** Removes the indent that the conversion gives to tags between the items of a list. */
function flushTags(text: string, tags: readonly Tag[]): string {
  const isTagLine = (line: string) => {
    const parts = line.split(PLACEHOLDER);
    return parts.every((part, i) => (i % 2 === 1 ? tags[Number(part)]!.type !== "value" : part.trim() === ""));
  };
  return text.replace(/^[ \t]*\ue0f0.*\ue0f1[ \t]*$/gm, (line) =>
    isTagLine(line) ? line.replace(/[ \t]+/g, "") : line,
  );
}

/** Drops tags that lost their counterpart in the conversion (in an attribute or a style) and closes open blocks. */
function repaired(tokens: Token[]): Token[] {
  const open: ("endif" | "endeach")[] = [];
  const kept = tokens.filter((token) => {
    if (token.type === "if" || token.type === "each") open.push(`end${token.type}`);
    else if (token.type === "else") return open.at(-1) === "endif";
    else if (token.type === "endif" || token.type === "endeach") return open.at(-1) === token.type && open.pop();
    return true;
  });
  return [...kept, ...open.reverse().map((type): Token => ({ type, at: 0 }))];
}

const isMark = (token: Token | MarkToken): token is MarkToken =>
  token.type === "link" || token.type === "endlink" || token.type === "pixel";

export function textNodes(body: readonly (Token | MarkToken)[]): Node[] {
  const { tags, numberOf } = numbering();
  const marked = body
    .map((token) => {
      if (isMark(token)) return "";
      if (token.type === "text") return token.text.replace(RESERVED, "");
      return `${OPEN}${numberOf(readable(token))}${CLOSE}`;
    })
    .join("");
  const parts = flushTags(convert(marked, options), tags).replace(SPACERS, "\n\n\n").split(PLACEHOLDER);
  const tokens = parts.map(
    (part, i): Token => (i % 2 === 1 ? tags[Number(part)]! : { type: "text", text: part, at: 0 }),
  );
  return parse(repaired(joinedLines(tokens))).nodes;
}
