/**
 * Finds the values within addresses, where "&", "+" or "#" would mean something: behind "?" or "#" of any address, and
 * everywhere in `mailto:`, where "?" and "&" would add fields to the email (RFC 6068).
 */
import type { Token } from "../../lib/template/lexer.ts";
import type { MarkToken } from "../../lib/template/parser.ts";
import { unescapeHtml } from "../program/escape.ts";

interface Place {
  /** Start of the URL, up to its scheme; a value at its start is represented by VALUE. */
  start: string;
  inQuery: boolean;
  /** False in text outside of any address. */
  isAddress: boolean;
}

/**
 * A variable at the start of a URL is assumed to be a page's URL, possibly with a "?", so parameters are added with
 * "&".
 */
const VALUE = "\0";
const SCHEME_LENGTH = 8;
const isMailto = ({ start }: Place) => /^mailto:/i.test(start);

/** State after a condition: the union of its branches. */
const either = (a: Place, b: Place): Place => ({
  start: a.start.startsWith(VALUE) || /^[a-z]+:/i.test(a.start) ? a.start : b.start,
  inQuery: a.inQuery || b.inQuery,
  isAddress: a.isAddress || b.isAddress,
});

const behind = ({ start, inQuery }: Place, text: string): Place => ({
  start: start.length < SCHEME_LENGTH ? (start + text).trimStart().slice(0, SCHEME_LENGTH) : start,
  inQuery: inQuery || (start.startsWith(VALUE) ? /[?#&]/ : /[?#]/).test(text),
  isAddress: true,
});

type AnyToken = Token | MarkToken;

/** Marks the values, except `[[[raw]]]` ones and one at the start of a URL, which may be a whole URL itself. */
function marked<T extends AnyToken>(
  tokens: readonly T[],
  first: Place,
  behindText: (place: Place, text: string) => Place,
) {
  let place = first;
  const before: Place[] = [];
  return tokens.map((token): T => {
    switch (token.type) {
      case "text":
        place = behindText(place, token.text);
        return token;
      case "value": {
        const { inQuery, isAddress } = place;
        const isMailbox = isMailto(place) && !inQuery;
        if (place.start === "") place = { ...place, start: VALUE };
        if (!isAddress || token.raw || token.urlEncoded || !(inQuery || isMailbox)) return token;
        return { ...token, urlEncoded: isMailbox ? "mailbox" : true };
      }
      case "if":
      case "each":
        before.push(place);
        return token;
      case "else": {
        const start = before.pop() ?? place;
        before.push(place);
        place = start;
        return token;
      }
      case "endif":
      case "endeach":
        place = either(before.pop() ?? place, place);
        return token;
      default:
        return token;
    }
  });
}

const START: Place = { start: "", inQuery: false, isAddress: true };
const OUTSIDE: Place = { start: "", inQuery: false, isAddress: false };

/** The tokens of one address in HTML. */
export const withQueryValues = (address: readonly Token[]): Token[] =>
  marked(address, START, (place, text) => behind(place, unescapeHtml(text)));

/** Ends an address in text, in an attribute, and in `url()`. */
const ENDS_ADDRESS = /[\s"'<>()]/;
const BEGINS_ADDRESS = /(?:https?:\/\/|mailto:).*$/is;

/** The part of a text that its last address may still go on in. */
function tailOf(text: string): string | undefined {
  let at = text.length;
  while (at > 0 && !ENDS_ADDRESS.test(text[at - 1]!)) at--;
  return at === 0 ? undefined : text.slice(at);
}

/** Tokens of a text or HTML in which URLs start with a scheme. */
export const withValuesInAddresses = <T extends AnyToken>(tokens: readonly T[], decode = (text: string) => text): T[] =>
  marked(tokens, OUTSIDE, (place, text) => {
    const tail = tailOf(text);
    if (tail === undefined && place.isAddress) return behind(place, decode(text));
    const address = BEGINS_ADDRESS.exec(decode(tail ?? text))?.[0];
    return address === undefined ? OUTSIDE : behind(START, address);
  });
