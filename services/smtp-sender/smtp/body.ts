/**
 * Writes a message, and the commands behind it, to the socket. A small message is one write. A large one (attachments) is
 * written in slices as fast as the socket drains, so that ten connections do not hold ten copies of it.
 */
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

const DOT = ".\r\n";

const ONE_WRITE = 128 * 1024;
const SLICE = 64 * 1024;
/** Commands alone: Node writes a string of less than 16 KB from its stack. */
const SMALL = 4 * 1024;

/**
 * Where text becomes bytes, for one write after the other of all connections. Node would allocate such memory for each
 * string of more than 16 KB.
 */
let scratch = Buffer.allocUnsafeSlow(SLICE);

/** TLS encrypts from where it likes, some time later, and copies strings itself. */
function writeText(socket: Socket, text: string): void {
  if (text.length > scratch.length || text.length < SMALL || socket instanceof TLSSocket) {
    socket.write(text, "latin1");
    return;
  }
  socket.write(scratch.subarray(0, scratch.write(text, "latin1")));
  // The kernel has not taken all of it: those bytes belong to the socket until it has.
  if (socket.writableLength > 0) scratch = Buffer.allocUnsafeSlow(SLICE);
}

/** Doubles dots at the beginnings of lines (RFC 5321 section 4.5.2) and ends the last line. */
function dotStuffed(message: string): string {
  const text = message.replace(/(^|\r\n)\./g, "$1..");
  return text.endsWith("\r\n") ? text : `${text}\r\n`;
}

/**
 * A whole message, its final dot and the commands behind it. The renderer promises lines without a leading dot; should it
 * break the promise, the message must not end early, so the first such line has to be the final dot. The search stands here
 * because it flattens the message's hundred pieces into one string, which is then written at once and leaves the heap.
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
  /** The final dot of the last message was given to the socket. */
  dotWritten = true;

  constructor(socket: Socket, onProgress: () => void) {
    this.#socket = socket;
    this.#onProgress = onProgress;
    socket.on("drain", () => this.#continue());
  }

  /** `pieces`: OutgoingMessage.body, or none. `commands` go out in the same write as the end of the message. */
  write(pieces: readonly string[], commands: string): void {
    if (this.busy) {
      this.#commands += commands;
      return;
    }
    let length = commands.length;
    for (const piece of pieces) length += piece.length;
    if (length <= ONE_WRITE) {
      const text =
        pieces.length === 0 ? commands : wireForm(pieces.length === 1 ? pieces[0]! : pieces.join(""), commands);
      this.dotWritten = true;
      writeText(this.#socket, text);
      return;
    }
    this.#pieces = [dotStuffed(pieces[0]!), ...pieces.slice(1), DOT];
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
