/**
 * Memory in which one mail is made, as it goes to the socket. A mail that is made of strings is a tree of hundreds of pieces,
 * walked to become one string and copied again to become bytes: 30 of the 47 KB that a mail took of the heap, so that
 * everything else had to survive collections three times as often. Here each piece is copied once, and the memory serves the
 * next mail.
 *
 * Whoever has written the bytes out gives them back with `release`, and must not look at them afterwards. Bytes of which
 * nobody can say whether somebody still needs them are not given back: they are garbage then.
 */

/** The newsletter of the measurements has 17 KB. */
const FIRST_BYTES = 32 * 1024;
/** Memory of larger mails is not kept. */
const MAX_KEPT_BYTES = 128 * 1024;
/** Two for each connection of a large transport; more are made when needed. */
const MAX_KEPT = 64;

const LF = 10;
const CR = 13;
const DOT = 46;
const EQUALS = 61;
const BASE64_LINE = 76;

/** The end of a message in SMTP is a line with a dot: a line of the message that begins with one has to be changed. */
const DOTTED_LINE = "\r\n.";

const ASCII = 128;

/** Of the characters of ASCII, by their codes: 1 for those that are in it. */
export type Characters = Uint8Array;

export const charactersOf = (matching: RegExp): Characters =>
  Uint8Array.from({ length: ASCII }, (_, code) => (matching.test(String.fromCharCode(code)) ? 1 : 0));

interface SlotSource {
  writeTo(memory: Buffer, at: number, n: number): void;
}

const kept: Buffer[] = [];

export class MailBytes {
  #memory: Buffer;
  #length = 0;
  #hasDottedLine = false;

  constructor() {
    this.#memory = kept.pop() ?? Buffer.allocUnsafeSlow(FIRST_BYTES);
  }

  get length(): number {
    return this.#length;
  }

  /** The last line is ended, and none begins with a dot: what makes mails promises that. */
  get isWireForm(): boolean {
    const length = this.#length;
    return !this.#hasDottedLine && this.#memory[length - 1] === LF && this.#memory[length - 2] === CR;
  }

  /** Makes room for so many bytes, and looks whether they begin a line with a dot. */
  #begin(bytes: number, first: number): void {
    const length = this.#length;
    if (length + bytes > this.#memory.length) this.#grow(length + bytes);
    if (first === DOT && (length === 0 || this.#memory[length - 1] === LF)) this.#hasDottedLine = true;
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#memory.length));
    this.#memory.copy(larger, 0, 0, this.#length);
    this.#memory = larger;
  }

  /** What was prepared by `fixedBytes`. */
  fixed(bytes: Buffer): void {
    this.#begin(bytes.length, bytes[0]!);
    this.#memory.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** Characters that stand for a byte each. */
  text(latin1: string): void {
    if (latin1.length === 0) return;
    if (latin1.includes(DOTTED_LINE)) this.#hasDottedLine = true;
    this.#begin(latin1.length, latin1.charCodeAt(0));
    this.#length += this.#memory.write(latin1, this.#length, "latin1");
  }

  /** What goes out behind the mail, or a mail that is in wire form. */
  unchecked(latin1: string): void {
    this.#begin(latin1.length, 0);
    this.#length += this.#memory.write(latin1, this.#length, "latin1");
  }

  /** So many characters as `source` writes for `n`, none of them a dot or a line break. */
  slot(source: SlotSource, n: number, characters: number): void {
    this.#begin(characters, 0);
    source.writeTo(this.#memory, this.#length, n);
    this.#length += characters;
  }

  /**
   * A line of quoted-printable that goes on in the next one, of characters that are `plain` (no line break is). False, and
   * nothing is written, where one is not. One look at each character: a search and a copy by the library took twice as long.
   */
  softLine(text: string, plain: Characters): boolean {
    this.#begin(text.length + 3, text.charCodeAt(0));
    const memory = this.#memory;
    let at = this.#length;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code >= ASCII || plain[code] === 0) return false;
      memory[at++] = code;
    }
    memory[at] = EQUALS;
    memory[at + 1] = CR;
    memory[at + 2] = LF;
    this.#length = at + 3;
    return true;
  }

  /** The `data` in base64, in lines of 76 characters that are each ended by CRLF. */
  base64(data: MailBytes): void {
    const encoded = data.#memory.toString("base64", 0, data.#length);
    const total = encoded.length + 2 * Math.ceil(encoded.length / BASE64_LINE);
    // It stands whole behind the place of its lines, and is moved there line by line.
    this.#begin(total + encoded.length, 0);
    const memory = this.#memory;
    let at = this.#length;
    let from = at + total;
    const end = from + memory.write(encoded, from, "latin1");
    for (; from < end; from += BASE64_LINE) {
      const to = Math.min(from + BASE64_LINE, end);
      memory.copyWithin(at, from, to);
      at += to - from;
      memory[at++] = CR;
      memory[at++] = LF;
    }
    this.#length = at;
  }

  /** The bytes from `from` on. They are the memory itself, and so valid until it is released. */
  view(from = 0): Buffer {
    return this.#memory.subarray(from, this.#length);
  }

  /** As latin1 characters. */
  toString(from = 0): string {
    return this.#memory.toString("latin1", from, this.#length);
  }

  /** The memory is used for another mail from now on. */
  release(): void {
    const memory = this.#memory;
    this.#memory = NONE;
    this.#length = 0;
    this.#hasDottedLine = false;
    if (memory.length > 0 && memory.length <= MAX_KEPT_BYTES && kept.length < MAX_KEPT) kept.push(memory);
  }
}

const NONE = Buffer.alloc(0);

/** Text, as latin1 characters, that stands in many mails. */
export function fixedBytes(latin1: string): Buffer {
  if (latin1.includes(DOTTED_LINE)) throw new Error("A line of the mail begins with a dot.");
  return Buffer.from(latin1, "latin1");
}
