/**
 * Writes a message, and the commands behind it, to the socket. A small message is one write. A large one (attachments) is
 * written in slices as fast as the socket drains, so that ten connections do not hold ten copies of it.
 */
import type { Socket } from "node:net";
import { MailBytes } from "../../lib/mail-bytes.ts";
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
 * A whole message, its final dot and the commands behind it. The renderer promises lines without a leading dot; should it
 * break the promise, the message must not end early, so the first such line has to be the final dot. The search stands here
 * because it flattens a message of many pieces into one string, which is then written at once and leaves the heap.
 */
function wireForm(message: string, commands: string): string {
  const text = message + DOT + commands;
  const ends = text.indexOf("\r\n.") === message.length - 2;
  return ends && !text.startsWith(".") ? text : dotStuffed(message) + DOT + commands;
}

function textOf(piece: string | MailBytes): string {
  if (typeof piece === "string") return piece;
  const text = piece.toString();
  piece.release();
  return text;
}

export class BodyWriter {
  #socket: Socket;
  #onProgress: () => void;
  #pieces: readonly string[] = [];
  #piece = 0;
  #at = 0;
  #commands = "";
  /** Given to the socket and not written out yet, in order. */
  #underWay: MailBytes[] = [];
  readonly #written = (error?: Error | null) => {
    const mail = this.#underWay.shift();
    // After an error it is unknown whether the system still reads them.
    if (!error) mail?.release();
  };
  /** A large message is being written. */
  busy = false;
  /** The final dot of the last message was given to the socket. */
  dotWritten = true;

  constructor(socket: Socket, onProgress: () => void) {
    this.#socket = socket;
    this.#onProgress = onProgress;
    socket.on("drain", () => this.#continue());
  }

  /** `commands` go out in the same write as the end of the message. */
  write(body: OutgoingMessage["body"], commands: string): void {
    if (this.busy) {
      this.#commands += commands;
      return;
    }
    const [mail] = body;
    if (mail instanceof MailBytes && body.length === 1 && mail.isWireForm && mail.length < ONE_WRITE) {
      mail.unchecked(DOT + commands);
      this.#writeBytes(mail);
    } else {
      this.#writeText(body.map(textOf), commands);
    }
  }

  #writeBytes(mail: MailBytes): void {
    this.dotWritten = true;
    this.#underWay.push(mail);
    this.#socket.write(mail.view(), this.#written);
  }

  #writeText(pieces: readonly string[], commands: string): void {
    let length = commands.length;
    for (const piece of pieces) length += piece.length;
    if (pieces.length === 0) {
      this.dotWritten = true;
      this.#socket.write(commands, "latin1");
      return;
    }
    if (length <= ONE_WRITE) {
      // Node would allocate memory for each string of more than 16 KB.
      const mail = new MailBytes();
      mail.unchecked(wireForm(pieces.length === 1 ? pieces[0]! : pieces.join(""), commands));
      this.#writeBytes(mail);
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
