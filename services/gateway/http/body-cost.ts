/**
 * Bounds the cost of a request body while it arrives: bytes by kind of route, and for JSON the nesting depth and the
 * number of keys and values. Bytes alone bound nothing: parsed, `[{},{},…]` takes 22 times its size.
 */
import { badRequest, tooLarge } from "../../lib/errors.ts";

export interface BodyLimits {
  maxBytes: number;
  /** Approximate number of keys, values and containers: the characters `{ [ , :` outside of strings. */
  maxTokens: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

export const BODY_LIMITS = {
  /** Forms of pages, sign-in and one-click unsubscribe: bodies from anonymous senders. */
  small: { maxBytes: 64 * KIB, maxTokens: 2_000 },
  ordinary: { maxBytes: MIB, maxTokens: 50_000 },
  /** A provider's batch of events, sent to the secret address of a source. */
  report: { maxBytes: 8 * MIB, maxTokens: 600_000 },
  /** Sends: 10,000 recipients with some 25 variables each. */
  large: { maxBytes: 16 * MIB, maxTokens: 600_000 },
} as const satisfies Record<string, BodyLimits>;

/** The API's deepest bodies have a dozen levels. Each level costs recursion in every walk. */
const MAX_DEPTH = 64;

export const bodyTooLarge = (maxBytes: number) => tooLarge(`The request is too large: at most ${maxBytes} bytes.`);

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const isMark = new Uint8Array(256);
for (const mark of "{[,:") isMark[mark.charCodeAt(0)] = 1;
const OPENS = new Set([..."{["].map((mark) => mark.charCodeAt(0)));
const CLOSES = new Set([..."}]"].map((mark) => mark.charCodeAt(0)));

/** Counts the cost of JSON chunk by chunk. Syntax errors are left to the parser. */
export class JsonCost {
  readonly #maxTokens: number;
  #tokens = 0;
  #depth = 0;
  #inString = false;
  /** True if the previous chunk ended within a string with a backslash, which escapes the first byte of this one. */
  #escaped = false;

  constructor(maxTokens: number) {
    this.#maxTokens = maxTokens;
  }

  /** Throws as soon as a limit is exceeded. */
  add(piece: Buffer): void {
    let i = 0;
    while (i < piece.length) {
      if (this.#inString) i = this.#skipString(piece, i);
      else this.#count(piece[i++]!);
    }
  }

  #count(byte: number): void {
    if (byte === QUOTE) {
      this.#inString = true;
      return;
    }
    if (isMark[byte] && ++this.#tokens > this.#maxTokens) {
      throw tooLarge(`The request holds too many keys and values: at most ${this.#maxTokens}.`);
    }
    if (OPENS.has(byte) && ++this.#depth > MAX_DEPTH) {
      throw badRequest(`The request is nested too deeply: at most ${MAX_DEPTH} levels.`);
    }
    if (CLOSES.has(byte)) this.#depth--;
  }

  /** The offset after the string, or the end of the chunk. Searches instead of walking, for long strings. */
  #skipString(piece: Buffer, from: number): number {
    let i = this.#escaped ? from + 1 : from;
    this.#escaped = false;
    for (;;) {
      const end = piece.indexOf(QUOTE, i);
      const last = end === -1 ? piece.length : end;
      let slashes = 0;
      while (last - slashes > i && piece[last - 1 - slashes] === BACKSLASH) slashes++;
      const isEscaped = slashes % 2 === 1;
      if (end === -1) {
        this.#escaped = isEscaped;
        return piece.length;
      }
      i = end + 1;
      if (!isEscaped) {
        this.#inString = false;
        return i;
      }
    }
  }
}
