/**
 * Writes a message and the following commands to the socket. A small message is one write. A large one (attachments) is
 * written in slices as fast as the socket drains, so that ten connections do not hold ten copies.
 */
import type { Socket } from "node:net";
import { RawMessage } from "../../lib/raw-message.ts";
import type { OutgoingMessage } from "./transaction.ts";

const DOT = ".\r\n";

const ONE_WRITE = 128 * 1024;
const SLICE = 64 * 1024;

const CR = "\r".charCodeAt(0);
const LF = "\n".charCodeAt(0);

const SLAB_BYTES = 1024 * 1024;
/** Messages on their way to the sockets of all connections. */
let slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
let slabUsed = 0;

const endsLine = (bytes: Buffer, length: number): boolean => bytes[length - 2] === CR && bytes[length - 1] === LF;

/** Doubles dots at the beginnings of lines (RFC 5321 section 4.5.2) and ends the last line. */
function dotStuffed(message: string): string {
  const text = message.replace(/(^|\r\n)\./g, "$1..");
  return text.endsWith("\r\n") ? text : `${text}\r\n`;
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
    const [message, ...more] = body;
    const length = body.reduce((sum, piece) => sum + piece.length, commands.length);
    if (message === undefined) {
      this.#socket.write(commands, "latin1");
      return;
    }
    if (length <= ONE_WRITE) {
      this.dotWritten = true;
      this.#writeAtOnce(
        typeof message === "string" ? new RawMessage([message]) : message,
        more.join("") + DOT + commands,
      );
      return;
    }
    this.#pieces = [dotStuffed(message.toString()), ...more.map(String), DOT];
    this.#piece = 0;
    this.#at = 0;
    this.#commands = commands;
    this.busy = true;
    this.dotWritten = false;
    this.#continue();
  }

  /** Writes a whole message and `rest`, which follows it. */
  #writeAtOnce(text: RawMessage, rest: string): void {
    const length = text.length + rest.length;
    if (slabUsed + length > SLAB_BYTES) {
      slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
      slabUsed = 0;
    }
    const bytes = slab.subarray(slabUsed, slabUsed + length);
    // The renderer promises lines without a leading dot. Should it break the promise, the message must not end early.
    if (!text.writeTo(bytes) || !endsLine(bytes, text.length)) {
      this.#socket.write(dotStuffed(text.toString()) + rest, "latin1");
      return;
    }
    bytes.write(rest, text.length, "latin1");
    this.#socket.write(bytes);
    // The next message takes the same memory, except where the system has not copied all of this one yet.
    if (this.#socket.writableLength > 0) slabUsed += length;
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
