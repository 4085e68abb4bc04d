/** Output formats of a program: plain (preview, web view, subject, base64), or already encoded for the wire. */

import { encodeQuotedPrintable, SOFT_BREAK } from "../mime/quoted-printable.ts";
import type { Escape } from "./escape.ts";
import { asIs } from "./escape.ts";
import { type Read, type Scope, spendCharacters, textOf } from "./scope.ts";

/** Fixed text, or what is written for each recipient. */
export type Piece = string | ((scope: Scope, item: unknown, index: number) => string);

export interface Writer {
  text(text: string): string;
  /** Output required before an unencoded part of `length` characters. */
  slot(length: number): string;
  value(read: Read, guard: Escape): Piece;
  /** Follows every value. */
  readonly afterValue: string;
  /** Starts a new line, because the next part may be repeated any number of times. */
  settle(): string;
}

const unchanged = (text: string) => text;

/** `form` is applied last to every part. */
export function plainWriter(form: (text: string) => string = unchanged): Writer {
  return {
    text: form,
    slot: () => "",
    afterValue: "",
    settle: () => "",
    value: (read, guard) => (scope, item, index) => {
      const text = form(guard(textOf(read(scope, item, index), scope)));
      spendCharacters(scope, text.length);
      return text;
    },
  };
}

const ASCII_LINE = /^[\x20-\x7e]*$/;

/** Text prepared for base64: UTF-8 bytes as latin1 characters, lines ended by CRLF. */
export function utf8Bytes(text: string): string {
  if (ASCII_LINE.test(text)) return text;
  const crlfText = /[\r\n]/.test(text) ? text.replace(/\r\n?|\n/g, "\r\n") : text;
  return Buffer.from(crlfText).toString("latin1");
}

// Printable ASCII that neither HTML nor quoted-printable changes.
const PLAIN_IN_HTML = /^[ !#-%(-;?-~]*$/;
const PLAIN = /^[ -<>-~]*$/;

// Must never begin a line (quoted-printable.ts).
const BAD_START = /^(?:\.|From )/;

export function quotedPrintableWriter(): Writer {
  let column = 0;
  return {
    text(text) {
      const encoded = encodeQuotedPrintable(text, column);
      column = encoded.column;
      return encoded.text;
    },

    slot(length) {
      const fits = column + length <= 75;
      column = fits ? column + length : length;
      return fits ? "" : SOFT_BREAK;
    },

    settle() {
      const text = column === 0 ? "" : SOFT_BREAK;
      column = 0;
      return text;
    },

    // A value ends its line, so that the static text after it is encoded independently of the value. The soft break is
    // part of that text, so that nearly all values are written as they are.
    afterValue: SOFT_BREAK,
    value(read, guard) {
      const before = column === 0 ? "" : SOFT_BREAK;
      const charactersLeft = 75 - column;
      const first = column === 0;
      const plain = guard === asIs ? PLAIN : PLAIN_IN_HTML;
      column = 0;
      return (scope, item, index) => {
        const text = textOf(read(scope, item, index), scope);
        if (text.length <= 75 && plain.test(text)) {
          spendCharacters(scope, text.length);
          if (text.length <= charactersLeft && !first) return text;
          if (!BAD_START.test(text)) return before + text;
        }
        const escaped = guard(text);
        spendCharacters(scope, escaped.length);
        const encoded = encodeQuotedPrintable(escaped);
        return before + encoded.text;
      };
    },
  };
}
