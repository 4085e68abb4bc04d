/** Finds the values of an address that stand in its query or fragment, where "&", "+" or "#" would mean something. */
import type { Token } from "../../lib/template/lexer.ts";
import { unescapeHtml } from "../program/escape.ts";

interface Place {
  /** How the address begins, up to what names its scheme; a value at its beginning stands as VALUE. */
  start: string;
  inQuery: boolean;
}

/** A value that an address begins with is taken for that of a page, which may bring a "?": then "&" goes on. */
const VALUE = "\0";
const SCHEME_LENGTH = 8;
const isWeb = (start: string) => start.startsWith(VALUE) || /^https?:/i.test(start);

/** Behind a condition: what any of its branches may have brought. */
const either = (a: Place, b: Place): Place => ({
  start: isWeb(a.start) ? a.start : b.start,
  inQuery: a.inQuery || b.inQuery,
});

const behindText = ({ start, inQuery }: Place, source: string): Place => {
  const text = unescapeHtml(source);
  return {
    start: start.length < SCHEME_LENGTH ? (start + text).trimStart().slice(0, SCHEME_LENGTH) : start,
    inQuery: inQuery || (start.startsWith(VALUE) ? /[?#&]/ : /[?#]/).test(text),
  };
};

/**
 * The tokens of one http(s) address, its values behind "?" or "#" marked. `[[[raw]]]` ones are not, nor is the one that
 * the address begins with: it may be a whole address itself.
 */
export function withQueryValues(address: readonly Token[]): Token[] {
  let place: Place = { start: "", inQuery: false };
  const before: Place[] = [];
  return address.map((token) => {
    switch (token.type) {
      case "text":
        place = behindText(place, token.text);
        return token;
      case "value": {
        const isQuery = place.inQuery && isWeb(place.start) && !token.raw;
        if (place.start === "") place = { ...place, start: VALUE };
        return isQuery ? { ...token, urlEncoded: true } : token;
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
      default:
        place = either(before.pop() ?? place, place);
        return token;
    }
  });
}
