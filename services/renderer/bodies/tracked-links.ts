/**
 * Finds the tracked links of a body, by the list in address-uses.ts, and the position of the open pixel.
 *
 * A static http(s) URL is stored once with the campaign and looked up by its number. A URL with variables
 * ("[[this.url]]" in a loop of products) is tracked as well: its number identifies the template, so that its clicks are
 * counted together, and the URL itself is part of the signed token. URLs of Flockmail's own pages, mailto:, tel: and #
 * are not tracked.
 */

import { type Token, tokenize } from "../../lib/template/lexer.ts";
import type { MarkToken, Node } from "../../lib/template/parser.ts";
import { unescapeHtml } from "../program/escape.ts";
import { outlineOf } from "./html-outline.ts";
import { withQueryValues, withValuesInAddresses } from "./query-values.ts";
import { bodyEnd } from "./visible.ts";

type LinkNode = Extract<Node, { kind: "link" }>;

const OWN_PAGES = /\[\[\[?\s*(?:unsubscribe_url|view_in_browser_url|preferences_url)\s*[|\]]/i;
/** Maximum URL length that fits into a token (link-token.ts), and into the URLs that servers and proxies accept. */
export const MAX_URL_LENGTH = 2_000;

/** A block that begins within an href and ends elsewhere cannot be taken as one address. */
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

/** The URL for redirects and counts: the HTML attribute decoded as in a browser. */
function templateOf(source: string, within: readonly Token[]): string {
  const fixed = within.every(({ type }) => type === "text");
  const text = fixed ? within.map((token) => (token.type === "text" ? token.text : "")).join("") : source;
  const url = unescapeHtml(text).trim();
  return fixed && /[^\x21-\x7e]/.test(url) && isWebAddress(url) ? new URL(url).href : url;
}

/** Tokens of an HTML body with its links marked, and the pixel before `</body>` (or at the end). */
export function markLinks(html: string): (Token | MarkToken)[] {
  const outline = outlineOf(html);
  const pixelAt = bodyEnd(html, outline);
  const tokens: (Token | MarkToken)[] = [];
  let position = 0;
  // Added one by one: call arguments are on the stack, and a body may have 140,000 tags.
  const takeText = (end: number) => {
    for (const token of tokenize(html.slice(position, end)).tokens) tokens.push(token);
    position = end;
  };
  const take = (end: number) => {
    if (position <= pixelAt && pixelAt < end) {
      takeText(pixelAt);
      tokens.push({ type: "pixel", at: pixelAt });
    }
    takeText(end);
  };
  for (const { start, end, quoted, use } of outline.addresses) {
    const within = tokenize(html.slice(start, end)).tokens;
    if (!balanced(within) || start < position) continue;
    take(start);
    if (use !== "link") {
      for (const token of withQueryValues(within)) tokens.push(token);
      position = end;
      continue;
    }
    const template = templateOf(html.slice(start, end), within);
    tokens.push({ type: "link", template, quoted, at: start }, ...withQueryValues(within), {
      type: "endlink",
      at: end,
    });
    position = end;
  }
  take(html.length);
  if (!tokens.some(({ type }) => type === "pixel")) tokens.push({ type: "pixel", at: pixelAt });
  return withValuesInAddresses(tokens, unescapeHtml);
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
