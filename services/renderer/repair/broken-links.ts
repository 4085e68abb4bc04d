/** Finds URLs that do not work in an email because their scheme is missing or misspelled, and suggests corrections. */
import { parse } from "tldts";
import { isAddress } from "../../lib/address.ts";
import { type Change, changed } from "../../lib/text-changes.ts";
import { editDistance } from "../../lib/unknown-fields.ts";
import { outlineOf } from "../bodies/html-outline.ts";
import { unescapeHtml } from "../program/escape.ts";

export interface BrokenLink {
  /** The URL as written. */
  address: string;
  /** Undefined if unknown. */
  meant?: string;
}

/** Text before the host, including mistyped variants of "://". */
const BEGINNING = /^([a-z]{2,7})(?:\s*[:;]\s*\/{0,3}|\s*[.,]?\/{2,3})\s*(?=[^\s/:;])/i;
const WHOLE = /^https?:\/\/[^\s/]/i;
const HAS_SCHEME = /^[a-z][a-z0-9+.-]+:/i;
const NOT_OPENABLE = /^(?:https?|file):/i;
const HOST = /^[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)+(?=[/?#:]|$)/iu;
/** Matches a variable, an anchor, or another product's placeholder, which has its own warning. */
const OTHER_SCHEME = /^(?:#|\\?\[|\*\||\{[{%$!]|%|\$\{|<%)/;

/** `https` or `http` where the word is one of them, or nearly; names of other schemes that look alike begin with other letters. */
function webScheme(word: string): string | undefined {
  if (!/^[ht]/i.test(word) || /^t[ef]/i.test(word)) return undefined;
  const [secure, plain] = ["https", "http"].map((scheme) => editDistance(word.toLowerCase(), scheme));
  if (plain! <= 1 && plain! <= secure!) return "http";
  return secure! <= 2 ? "https" : undefined;
}

/** Decides by the public suffix list: `readme.html` is a file name, `shop.example.com` a host. */
function isHost(address: string): boolean {
  const host = HOST.exec(address)?.[0];
  if (host === undefined) return false;
  const { isIcann, domain } = parse(host);
  return isIcann === true && domain !== null;
}

/** Undefined for a URL that may work. It may contain `[[…]]`. */
export function brokenLink(address: string): BrokenLink | undefined {
  const text = address.trim();
  if (text === "" || OTHER_SCHEME.test(text)) return undefined;
  if (WHOLE.test(text)) return text.includes("[[") || URL.canParse(text) ? undefined : { address };
  const beginning = BEGINNING.exec(text);
  const scheme = beginning && webScheme(beginning[1]!);
  if (scheme) return { address, meant: `${scheme}://${text.slice(beginning[0].length)}` };
  if (text.startsWith("//")) return { address, meant: `https:${text}` };
  if (isAddress(text)) return { address, meant: `mailto:${text}` };
  if (/^www\d?\./i.test(text) || isHost(text)) return { address, meant: `https://${text}` };
  return HAS_SCHEME.test(text) && !NOT_OPENABLE.test(text) ? undefined : { address };
}

interface PositionedLink extends BrokenLink {
  start: number;
  end: number;
  /** Replacement text: names within tags must not be escaped. */
  source: string | undefined;
}

function brokenIn(html: string): PositionedLink[] {
  return outlineOf(html).addresses.flatMap(({ start, end }) => {
    const source = html.slice(start, end);
    const found = brokenLink(unescapeHtml(source));
    return found ? [{ ...found, start, end, source: brokenLink(source)?.meant }] : [];
  });
}

/** Returns each broken link once, in order. */
export function brokenLinks(html: string): BrokenLink[] {
  const found = new Map(brokenIn(html).map(({ address, meant }) => [address, { address, ...(meant && { meant }) }]));
  return [...found.values()];
}

export function withoutBrokenLinks(html: string): string {
  const changes = brokenIn(html).flatMap(({ start, end, source }): Change[] =>
    source === undefined ? [] : [{ start, end, text: source }],
  );
  return changed(html, changes);
}
