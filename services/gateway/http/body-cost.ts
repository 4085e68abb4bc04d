/**
 * What a request's body may cost, before anything is made of it: bytes by the kind of route, and in JSON the number of
 * keys and values and the depth, counted while the bytes arrive. Parsed, `[{},{},…]` takes 22 times its bytes (16 MiB: 357
 * MiB of heap, and 1.4 s without any other response), so bytes alone bound nothing.
 */
import { badRequest, tooLarge } from "../../lib/errors.ts";

export interface BodyLimits {
  maxBytes: number;
  /** Keys, values and containers, give or take: the marks `{ [ , :` outside of strings. */
  maxTokens: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

export const BODY_LIMITS = {
  /** Forms of pages, sign-in, one-click unsubscribe: what strangers send. */
  small: { maxBytes: 64 * KIB, maxTokens: 2_000 },
  ordinary: { maxBytes: MIB, maxTokens: 50_000 },
  /** A provider's batch of events; whoever sends one has the address of a source. */
  report: { maxBytes: 8 * MIB, maxTokens: 600_000 },
  /** Sends: 10,000 receivers with some 25 variables each. */
  large: { maxBytes: 16 * MIB, maxTokens: 600_000 },
} as const satisfies Record<string, BodyLimits>;

/** Nothing that the API takes is nested deeper than a dozen levels; each level costs recursion wherever it is walked. */
const MAX_DEPTH = 64;

export const bodyTooLarge = (maxBytes: number) => tooLarge(`The request is too large: at most ${maxBytes} bytes.`);

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const isMark = new Uint8Array(256);
for (const mark of "{[,:") isMark[mark.charCodeAt(0)] = 1;
const OPENS = new Set([..."{["].map((mark) => mark.charCodeAt(0)));
const CLOSES = new Set([..."}]"].map((mark) => mark.charCodeAt(0)));

/** Counts what JSON will cost, piece by piece as it arrives. It checks nothing else: that is the parser's part. */
export class JsonCost {
  readonly #maxTokens: number;
  #tokens = 0;
  #depth = 0;
  #inString = false;
  /** The byte before this piece was a backslash within a string that escapes its first byte. */
  #escaped = false;

  constructor(maxTokens: number) {
    this.#maxTokens = maxTokens;
  }

  /** Throws as soon as it is too much. */
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

  /** Where the string ends, or the end of the piece. Long strings are searched and not walked. */
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
