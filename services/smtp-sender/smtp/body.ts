/**
 * Writes a message and the following commands to the socket. A small message is one write. A large one (attachments) is
 * written in slices as fast as the socket drains, so that ten connections do not hold ten copies.
 */
import type { Socket } from "node:net";
import type { OutgoingMessage } from "./transaction.ts";

const DOT = ".\r\n";

const ONE_WRITE = 128 * 1024;
const SLICE = 64 * 1024;

/** Doubles dots at the beginnings of lines (RFC 5321 section 4.5.2) and ends the last line. */
function dotStuffed(message: string): string {
  const text = message.replace(/(^|\r\n)\./g, "$1..");
  return text.endsWith("\r\n") ? text : `${text}\r\n`;
}

/**
 * A whole message, its final dot and the following commands. The renderer promises lines without a leading dot; if it
 * broke the promise, the message must not end early, so the first such line has to be the final dot.
 */
function wireForm(message: string, commands: string): string {
  const text = message + DOT + commands;
  const ends = text.indexOf("\r\n.") === message.length - 2;
  return ends && !text.startsWith(".") ? text : dotStuffed(message) + DOT + commands;
}

export class BodyWriter {
  #socket: Socket;
  #onProgress: () => void;
  #pieces: readonly string[] = [];
  #piece = 0;
  #at = 0;
  #commands = "";
  /** A large message is being written. */
  busy = false;
  /** True once the final dot of the last message was passed to the socket. */
  dotWritten = true;

  constructor(socket: Socket, onProgress: () => void) {
    this.#socket = socket;
    this.#onProgress = onProgress;
    socket.on("drain", () => this.#continue());
  }

  /** `commands` are sent in the same write as the end of the message. */
  write(body: OutgoingMessage["body"], commands: string): void {
    if (this.busy) {
      this.#commands += commands;
      return;
    }
    const length = body.reduce((sum, piece) => sum + piece.length, commands.length);
    if (length <= ONE_WRITE) {
      this.dotWritten = true;
      const [message = "", ...more] = body;
      this.#socket.write(body.length === 0 ? commands : wireForm(message + more.join(""), commands), "latin1");
      return;
    }
    this.#pieces = [dotStuffed(body[0]!), ...body.slice(1), DOT];
    this.#piece = 0;
    this.#at = 0;
    this.#commands = commands;
    this.busy = true;
    this.dotWritten = false;
    this.#continue();
  }

  #continue(): void {
    if (!this.busy) return;
    this.#onProgress();
    while (this.#piece < this.#pieces.length) {
      const piece = this.#pieces[this.#piece]!;
      const last = this.#piece === this.#pieces.length - 1 && this.#at + SLICE >= piece.length;
      const slice = piece.slice(this.#at, this.#at + SLICE);
      this.#at += SLICE;
      if (this.#at >= piece.length) {
        this.#piece++;
        this.#at = 0;
      }
      if (last) {
        this.busy = false;
        this.dotWritten = true;
        this.#pieces = [];
        this.#socket.write(slice + this.#commands, "latin1");
        return;
      }
      if (!this.#socket.write(slice, "latin1")) return;
    }
  }
}
