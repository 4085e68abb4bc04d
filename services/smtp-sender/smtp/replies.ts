/**
 * Reads a server's replies (RFC 5321 section 4.2). The result does not depend on how the bytes were cut into chunks.
 * Anything that is not a reply is an error: from there on nobody can say which reply belongs to which command.
 */
import { enhancedCode } from "../../lib/replies/codes.ts";

export interface Reply {
  code: number;
  /** RFC 3463, "5.1.1", at the beginning or as "(#5.1.1)" at the end; empty where the server gives none. */
  enhanced: string;
  /** The whole reply in one line, code first. */
  text: string;
}

/** Thrown by `push`; the connection must not be used any more. */
export class NotSmtp extends Error {}

const LINE = /^([2-5]\d\d)(?:([ -])(.*))?$/;
/** Control characters are of no use in logs and stored texts, and PostgreSQL stores no NUL. */
const CONTROLS = /[\u0000-\u001f\u007f]+/g;
const MAX_LINE = 4_096;
const MAX_REPLY = 65_536;
const MAX_TEXT = 500;

/**
 * Replies of one line as they were read before: of the five replies to a mail four are the same for all. Forgotten as a
 * whole, because the fifth (with its queue id) is new each time.
 */
const known = new Map<string, Reply>();
const MAX_KNOWN = 256;
/** A line keeps the chunk alive that it was cut from. */
const MAX_KNOWN_CHUNK = 512;

function remember(line: string, reply: Reply): void {
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(line, Object.freeze(reply));
}

export class ReplyReader {
  /** What was read last, and up to where it has been taken. */
  #input = "";
  #from = 0;
  #code = "";
  #lines: string[] = [];
  #size = 0;

  /** True while a reply has begun and is not complete. */
  get midway(): boolean {
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
      const before = alone ? known.get(line) : undefined;
      const reply = before ?? this.#line(line);
      if (!reply) continue;
      if (alone && !before) remember(line, reply);
      take(reply);
    }
    if (input.length - this.#from > MAX_LINE) throw new NotSmtp("The server sent a line without end");
    // A chunk that was taken whole is not kept.
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
