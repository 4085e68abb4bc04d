/**
 * Puts a message and what follows it on the wire. A small one is one string and one write; of a large one (attachments)
 * no more is written than the socket takes, so that ten connections do not hold ten copies of it.
 */
import type { Socket } from "node:net";

const ONE_WRITE = 128 * 1024;
const SLICE = 64 * 1024;

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

  /** `behind`: commands that go out in the same write as the end of the message. */
  write(pieces: readonly string[], behind: string): void {
    if (this.busy) {
      this.#behind += behind;
      return;
    }
    let length = behind.length;
    for (const piece of pieces) length += piece.length;
    if (length <= ONE_WRITE) {
      const text = pieces.length === 1 ? pieces[0]! + behind : pieces.join("") + behind;
      this.dotWritten = true;
      this.#socket.write(text, "latin1");
      return;
    }
    this.#pieces = pieces;
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
