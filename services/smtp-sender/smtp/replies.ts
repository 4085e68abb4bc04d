/**
 * Parses a server's replies (RFC 5321 section 4.2), independently of how the bytes are split into chunks. Anything that
 * is not a reply is an error: from there on replies cannot be matched to commands.
 */
import { enhancedCode } from "../../lib/replies/codes.ts";

export interface Reply {
  code: number;
  /** Enhanced code (RFC 3463), "5.1.1", at the start or as "(#5.1.1)" at the end; empty if missing. */
  enhanced: string;
  /** The whole reply in one line, code first. */
  text: string;
}

/** Thrown by `push`; the connection must not be used any more. */
export class NotSmtp extends Error {}

const LINE = /^([2-5]\d\d)(?:([ -])(.*))?$/;
/** Control characters, which are useless in logs; PostgreSQL cannot store NUL. */
const CONTROLS = /[\u0000-\u001f\u007f]+/g;
const MAX_LINE = 4_096;
const MAX_REPLY = 65_536;
const MAX_TEXT = 500;

/**
 * Cache of parsed single-line replies: four of the five replies to an email are always the same. Cleared as a whole,
 * because the fifth (with its queue id) is always new.
 */
const cache = new Map<string, Reply>();
const MAX_KNOWN = 256;
/** A substring keeps the whole chunk alive. */
const MAX_KNOWN_CHUNK = 512;

function remember(line: string, reply: Reply): void {
  if (cache.size >= MAX_KNOWN) cache.clear();
  cache.set(line, Object.freeze(reply));
}

export class ReplyReader {
  /** The last chunk, and the offset up to which it is consumed. */
  #input = "";
  #from = 0;
  #code = "";
  #lines: string[] = [];
  #size = 0;

  /** True while a reply is incomplete. */
  get isIncomplete(): boolean {
    return this.#from < this.#input.length || this.#lines.length > 0;
  }

  /** Calls `take` with each reply that the chunk completes. Throws NotSmtp. */
  push(chunk: string, take: (reply: Reply) => void): void {
    const input = this.#from < this.#input.length ? this.#input.slice(this.#from) + chunk : chunk;
    this.#input = input;
    this.#from = 0;
    for (let end = input.indexOf("\n"); end >= 0; end = input.indexOf("\n", this.#from)) {
      const line = input.slice(this.#from, end > this.#from && input[end - 1] === "\r" ? end - 1 : end);
      this.#from = end + 1;
      const alone = this.#lines.length === 0 && input.length <= MAX_KNOWN_CHUNK;
      const before = alone ? cache.get(line) : undefined;
      const reply = before ?? this.#line(line);
      if (!reply) continue;
      if (alone && !before) remember(line, reply);
      take(reply);
    }
    if (input.length - this.#from > MAX_LINE) throw new NotSmtp("The server sent a line without end");
    // A fully consumed chunk is not kept.
    if (this.#from === input.length) {
      this.#input = "";
      this.#from = 0;
    }
  }

  #line(line: string): Reply | undefined {
    const [, code, more, text = ""] = LINE.exec(line) ?? [];
    if (!code || (this.#code && code !== this.#code)) {
      throw new NotSmtp("The server's answer is not SMTP");
    }
    this.#size += line.length;
    if (this.#size > MAX_REPLY) throw new NotSmtp("The server sent a reply without end");
    this.#lines.push(text);
    if (more === "-") {
      this.#code = code;
      return undefined;
    }
    const joined = this.#lines.join(" ").replace(CONTROLS, " ").replace(/\s+/g, " ").trim();
    const enhanced = enhancedCode(this.#lines[0]!, joined) ?? "";
    this.#code = "";
    this.#lines = [];
    this.#size = 0;
    return { code: Number(code), enhanced, text: `${code} ${joined}`.trim().slice(0, MAX_TEXT) };
  }
}
