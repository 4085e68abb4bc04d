/**
 * Puts a message and what follows it on the wire. A small one is one string and one write; of a large one (attachments)
 * no more is written than the socket takes, so that ten connections do not hold ten copies of it.
 */
import type { Socket } from "node:net";

const DOT = ".\r\n";

const ONE_WRITE = 128 * 1024;
const SLICE = 64 * 1024;

/** Dots at the beginnings of lines are doubled (RFC 5321 section 4.5.2), and the last line is ended. */
function stuffed(message: string): string {
  const text = message.replace(/(^|\r\n)\./g, "$1..");
  return text.endsWith("\r\n") ? text : `${text}\r\n`;
}

/**
 * A whole message, its final dot and what follows. The renderer promises lines without a leading dot, and one that broke
 * the promise must not end early: the first such line has to be the end itself. Looked for here and not before, because
 * the search makes the message's hundred pieces one string, which is copied once then and does not wait in the heap.
 */
function onWire(message: string, behind: string): string {
  const text = message + DOT + behind;
  const ends = text.indexOf("\r\n.") === message.length - 2;
  return ends && !text.startsWith(".") ? text : stuffed(message) + DOT + behind;
}

export class BodyWriter {
  #socket: Socket;
  #progress: () => void;
  #pieces: readonly string[] = [];
  #piece = 0;
  #at = 0;
  #behind = "";
  /** A large message is on its way out. */
  busy = false;
  /** The end of the last message was given to the socket. */
  dotWritten = true;

  constructor(socket: Socket, progress: () => void) {
    this.#socket = socket;
    this.#progress = progress;
    socket.on("drain", () => this.#go());
  }

  /** `pieces`: of a message (Letter.body), or none. `behind`: commands that go out in the same write as the end of the message. */
  write(pieces: readonly string[], behind: string): void {
    if (this.busy) {
      this.#behind += behind;
      return;
    }
    let length = behind.length;
    for (const piece of pieces) length += piece.length;
    if (length <= ONE_WRITE) {
      const text = pieces.length === 0 ? behind : onWire(pieces.length === 1 ? pieces[0]! : pieces.join(""), behind);
      this.dotWritten = true;
      this.#socket.write(text, "latin1");
      return;
    }
    this.#pieces = [stuffed(pieces[0]!), ...pieces.slice(1), DOT];
    this.#piece = 0;
    this.#at = 0;
    this.#behind = behind;
    this.busy = true;
    this.dotWritten = false;
    this.#go();
  }

  #go(): void {
    if (!this.busy) return;
    this.#progress();
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
        this.#socket.write(slice + this.#behind, "latin1");
        return;
      }
      if (!this.#socket.write(slice, "latin1")) return;
    }
  }
}
