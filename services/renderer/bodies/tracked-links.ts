/**
 * Finds what is tracked in a body: the hrefs of `<a>`, and the place of the open pixel.
 *
 * A static http(s) address is stored once with the campaign and looked up by its number. An address with variables
 * ("[[this.url]]" in a loop of products) is tracked as well: its number identifies the template, so that its clicks are
 * counted together, and the address itself is part of the signed token. Addresses of Flockmail's own pages, mailto:, tel:
 * and # are not tracked.
 */

import { type Token, tokenize } from "../../lib/template/lexer.ts";
import type { MarkToken, Node } from "../../lib/template/parser.ts";
import { unescapeHtml } from "../program/escape.ts";

type LinkNode = Extract<Node, { kind: "link" }>;
type Range = { start: number; end: number; quoted: boolean };

const OWN_PAGES = /\[\[\[?\s*(?:unsubscribe_url|view_in_browser_url|preferences_url)\s*\]\]/;
const MAX_LINKS = 10_000;
/** Longer than any tag that compiles (lexer.ts). */
const MAX_TAG = 300;
/** The longest address that fits into a token (link-token.ts) and that servers and proxies accept. */
export const MAX_URL_LENGTH = 2_000;

/** End of a `[[…]]` that starts at `from`, else `from`: quotes and ">" inside belong to the template tag, not to HTML. */
function skipTag(html: string, from: number): number {
  if (!html.startsWith("[[", from)) return from;
  const end = html.slice(from, from + MAX_TAG).indexOf("]]");
  return end < 0 ? from : from + end + 2;
}

function skipTo(html: string, from: number, stops: (char: string) => boolean): number {
  let i = from;
  while (i < html.length && !stops(html[i]!)) {
    const behind = skipTag(html, i);
    i = behind > i ? behind : i + 1;
  }
  return i;
}

const isSpace = (char: string) => /[\s/]/.test(char);

/** The href values of the tag whose name ends before `from`, and where the tag ends. */
function hrefsOfTag(html: string, from: number): { hrefs: Range[]; end: number } {
  const hrefs: Range[] = [];
  let i = from;
  for (;;) {
    i = skipTo(html, i, (char) => !isSpace(char));
    if (i >= html.length || html[i] === ">") return { hrefs, end: i };
    const nameEnd = skipTo(html, i + 1, (char) => isSpace(char) || char === "=" || char === ">");
    const name = html
      .slice(i, nameEnd)
      .replace(/^.*\]\]/s, "")
      .toLowerCase();
    i = skipTo(html, nameEnd, (char) => !/\s/.test(char));
    if (html[i] !== "=") continue;
    i = skipTo(html, i + 1, (char) => !/\s/.test(char));
    const quote = html[i] === '"' || html[i] === "'" ? html[i]! : "";
    const start = quote ? i + 1 : i;
    const end = skipTo(html, start, quote ? (char) => char === quote : (char) => /[\s>]/.test(char));
    if (name === "href" && (end < html.length || !quote)) hrefs.push({ start, end, quoted: quote !== "" });
    i = quote ? end + 1 : end;
  }
}

function findHrefs(html: string): Range[] {
  const found: Range[] = [];
  const tag = /<(a(?=[\s/])|style\b|script\b)/gi;
  for (let match = tag.exec(html); match; match = tag.exec(html)) {
    const name = match[1]!.toLowerCase();
    if (name === "a") {
      const { hrefs, end } = hrefsOfTag(html, tag.lastIndex);
      found.push(...hrefs);
      tag.lastIndex = end;
    } else {
      const close = name === "style" ? /<\/style/gi : /<\/script/gi;
      close.lastIndex = tag.lastIndex;
      tag.lastIndex = close.exec(html) ? close.lastIndex : html.length;
    }
    if (found.length >= MAX_LINKS) break;
  }
  return found;
}

/** An href in which a block begins but does not end cannot be treated as one address. */
function balanced(tokens: readonly Token[]): boolean {
  let depth = 0;
  for (const { type } of tokens) {
    if (type === "if" || type === "each") depth++;
    if (type === "endif" || type === "endeach") depth--;
    if (depth < 0 || (type === "else" && depth === 0)) return false;
  }
  return depth === 0;
}

const isWebAddress = (url: string) => /^https?:\/\//i.test(url) && url.length <= MAX_URL_LENGTH && URL.canParse(url);

/** Begins like a web address, or with a value that may hold one. */
const mayBecomeOne = (template: string) =>
  /^(?:https?:\/\/|\[\[)/i.test(template) && template.length <= MAX_URL_LENGTH && !OWN_PAGES.test(template);

const trackable = ({ template, body }: LinkNode) =>
  body.every(({ kind }) => kind === "text") ? isWebAddress(template) : mayBecomeOne(template);

/** The address as it is redirected to and counted: the HTML attribute decoded as a browser does. */
function templateOf(source: string, within: readonly Token[]): string {
  const fixed = within.every(({ type }) => type === "text");
  const text = fixed ? within.map((token) => (token.type === "text" ? token.text : "")).join("") : source;
  const url = unescapeHtml(text).trim();
  return fixed && /[^\x21-\x7e]/.test(url) && isWebAddress(url) ? new URL(url).href : url;
}

/** Tokens of an HTML body with its links marked, and the pixel's place before `</body>` (or at the end). */
export function markLinks(html: string): (Token | MarkToken)[] {
  const pixelAt = bodyEnd(html);
  const tokens: (Token | MarkToken)[] = [];
  let position = 0;
  const take = (end: number) => {
    if (position <= pixelAt && pixelAt < end) {
      tokens.push(...tokenize(html.slice(position, pixelAt)).tokens, { type: "pixel", at: pixelAt });
      position = pixelAt;
    }
    tokens.push(...tokenize(html.slice(position, end)).tokens);
    position = end;
  };
  for (const { start, end, quoted } of findHrefs(html)) {
    const within = tokenize(html.slice(start, end)).tokens;
    if (!balanced(within) || start < position) continue;
    take(start);
    const template = templateOf(html.slice(start, end), within);
    tokens.push({ type: "link", template, quoted, at: start }, ...within, { type: "endlink", at: end });
    position = end;
  }
  take(html.length);
  if (!tokens.some(({ type }) => type === "pixel")) tokens.push({ type: "pixel", at: pixelAt });
  return tokens;
}

/** Where additions to a mail are inserted: before the last `</body>`, else `</html>`, else at the end. */
export function bodyEnd(html: string): number {
  for (const close of [/<\/body\s*>/gi, /<\/html\s*>/gi]) {
    const last = [...html.matchAll(close)].at(-1);
    if (last) return last.index;
  }
  return html.length;
}

/** The tracked addresses of a body in order of appearance, each once. */
export function trackedLinks(nodes: readonly Node[]): string[] {
  const links = new Set<string>();
  const visit = (list: readonly Node[]) => {
    for (const node of list) {
      if (node.kind === "link" && trackable(node)) links.add(node.template);
      if (node.kind === "if") visit([...node.body, ...node.otherwise]);
      if (node.kind === "each") visit(node.body);
    }
  };
  visit(nodes);
  return [...links];
}
