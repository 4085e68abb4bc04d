/**
 * Scans a template's HTML for tags as a browser sees them, and for invisible parts: comments, the text of `<style>` and
 * similar elements, attributes (HTML Living Standard, 13.2.5, as far as mail needs it). A single linear pass over the
 * source including its `[[…]]`.
 */
import { type AddressUse, addressUse, CSS_URL, MAY_HOLD_ADDRESS } from "./address-uses.ts";

interface Span {
  start: number;
  end: number;
}

/** The value of an attribute that holds an address, without its quotes. */
interface Address extends Span {
  quoted: boolean;
  use: AddressUse;
}

interface Attribute extends Span {
  name: string;
  quoted: boolean;
}

interface DocumentTag {
  name: string;
  at: number;
  /** Position after its ">". */
  end: number;
}

interface HtmlOutline {
  /** URLs by the list in address-uses.ts, in order; also in conditional comments. */
  addresses: Address[];
  /** Start tags of the document, outside of comments. */
  opens: DocumentTag[];
  /** End tags of the document, outside of comments. */
  closes: DocumentTag[];
  /** The texts of `<title>`. */
  titles: Span[];
  /** Invisible parts that contain `[[…]]`, in order: all markup except the URLs of `<a>`. */
  unseen: Span[];
  /**
   * Position after the last visible character: before a comment, tag or raw text that is never closed, otherwise the
   * length.
   */
  end: number;
}

/** Bounds the memory of one campaign's links. */
const MAX_ADDRESSES = 10_000;
/** Longer than any `[[…]]` that compiles (lexer.ts). */
const MAX_TEMPLATE_TAG = 300;

/** Elements whose content a browser treats as text, and their ends. */
const RAW_TEXT = new Map(
  ["style", "script", "title", "textarea", "xmp", "iframe", "noembed", "noframes"].map((name) => [
    name,
    new RegExp(`</${name}(?=[\\s/>])`, "gi"),
  ]),
);
const DOCUMENT = new Set(["html", "head", "body"]);
const CONDITIONAL = /^\[if[^\]>]*\]>/i;

/** End of a `[[…]]` that starts at `from`, or `from` when none does: quotes and ">" within it are its own. */
function skipTemplateTag(html: string, from: number): number {
  if (!html.startsWith("[[", from)) return from;
  const end = html.slice(from, from + MAX_TEMPLATE_TAG).indexOf("]]");
  return end < 0 ? from : from + end + 2;
}

function skipTo(html: string, from: number, stops: (char: string) => boolean): number {
  let i = from;
  while (i < html.length && !stops(html[i]!)) {
    const behind = skipTemplateTag(html, i);
    i = behind > i ? behind : i + 1;
  }
  return i;
}

const isSpace = (char: string) => /[\s/]/.test(char);

/** The attributes that may hold addresses of the tag whose name ends before `from`, and where its ">" is (or the end). */
function attributesOf(html: string, from: number): { attributes: Attribute[]; end: number } {
  const attributes: Attribute[] = [];
  let i = from;
  for (;;) {
    i = skipTo(html, i, (char) => !isSpace(char));
    if (i >= html.length || html[i] === ">") return { attributes, end: i };
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
    if (MAY_HOLD_ADDRESS.has(name) && (end < html.length || !quote))
      attributes.push({ name, start, end, quoted: quote !== "" });
    i = quote ? end + 1 : end;
  }
}

/**
 * Returns the position after the comment that begins at `at`, or -1 for one that never ends. `<!-->` and `<!--->` are
 * complete comments.
 */
function commentEnd(html: string, at: number): number {
  const close = /--!?>/g;
  close.lastIndex = at + 2;
  let match = close.exec(html);
  if (match?.[0] === "--!>" && match.index === at + 2) match = close.exec(html);
  return match ? close.lastIndex : -1;
}

class Outliner implements HtmlOutline {
  readonly addresses: Address[] = [];
  readonly opens: DocumentTag[] = [];
  readonly closes: DocumentTag[] = [];
  readonly titles: Span[] = [];
  readonly unseen: Span[] = [];
  readonly end: number;

  constructor(html: string) {
    this.end = this.#scan(html, 0, false);
    this.#hide(html, this.end, html.length);
  }

  #hide(html: string, start: number, end: number): void {
    if (html.slice(start, end).includes("[[")) this.unseen.push({ start, end });
  }

  /**
   * Returns where a construct begins that never ends, or else the length. `inComment`: what Outlook alone reads; its
   * links count, but to all others none of it is there.
   */
  #scan(html: string, from: number, inComment: boolean): number {
    const markup = /<(?:!--|[!?]|\/[^a-z]|\/?([a-z][^\s/>]*))/gi;
    markup.lastIndex = from;
    for (let match = markup.exec(html); match; match = markup.exec(html)) {
      const start = match.index;
      const name = match[1]?.toLowerCase();
      if (name === undefined) {
        const isComment = match[0] === "<!--";
        const end = isComment ? commentEnd(html, start) : html.indexOf(">", start + 2) + 1 || -1;
        if (end < 0) return start;
        const condition = isComment && !inComment ? CONDITIONAL.exec(html.slice(start + 4, end)) : null;
        if (condition) this.#scan(html.slice(0, end - 3), start + 4 + condition[0].length, true);
        if (!inComment) this.#hide(html, start, end);
        markup.lastIndex = end;
        continue;
      }
      const { attributes, end } = attributesOf(html, markup.lastIndex);
      const closing = html[start + 1] === "/";
      if (!closing) for (const attribute of attributes) this.#addAddresses(html, name, attribute);
      if (end >= html.length) return start;
      if (!inComment) this.#hideTag(html, { start, end }, name === "a" && !closing ? attributes : []);
      if (!inComment && DOCUMENT.has(name))
        (closing ? this.closes : this.opens).push({ name, at: start, end: end + 1 });
      markup.lastIndex = end + 1;
      const close = closing ? undefined : RAW_TEXT.get(name);
      if (!close) continue;
      close.lastIndex = end + 1;
      const closedAt = close.exec(html)?.index;
      if (closedAt === undefined) return start;
      if (!inComment) this.#hide(html, end, closedAt);
      if (!inComment && name === "title") this.titles.push({ start: end + 1, end: closedAt });
      markup.lastIndex = closedAt;
    }
    return html.length;
  }

  #addAddresses(html: string, element: string, { name, ...value }: Attribute): void {
    const found: Address[] = [];
    if (name === "style") {
      for (const match of html.slice(value.start, value.end).matchAll(CSS_URL)) {
        const start = value.start + match.index + match[1]!.length;
        found.push({ start, end: start + match[2]!.length, quoted: value.quoted, use: "image" });
      }
    } else {
      const use = addressUse(element, name);
      if (use) found.push({ ...value, use });
    }
    for (const address of found) if (this.addresses.length < MAX_ADDRESSES) this.addresses.push(address);
  }

  #hideTag(html: string, tag: Span, seen: readonly Attribute[]): void {
    let at = tag.start;
    for (const { name, start, end } of seen) {
      if (name !== "href") continue;
      this.#hide(html, at, start);
      at = end;
    }
    this.#hide(html, at, tag.end);
  }
}

export const outlineOf = (html: string): HtmlOutline => new Outliner(html);

/** True if `at` is within one of these ordered, disjoint ranges. */
export function spanAt(spans: readonly Span[], at: number): Span | undefined {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle]!.end <= at) low = middle + 1;
    else high = middle;
  }
  const span = spans[low];
  return span && span.start <= at ? span : undefined;
}
