/**
 * An email as a list of pieces instead of one string, which would be copied twice. Buffers hold text that all recipients
 * share, strings are the recipient's own; each character is one byte (latin1).
 */
export type MailPiece = string | Buffer;

const DOT = ".".charCodeAt(0);
const LF = "\n".charCodeAt(0);

/** Encodes text that many emails share. Throws if a line begins with a dot. */
export function fixedPiece(latin1: string): Buffer {
  if (latin1.includes("\n.")) throw new Error("A line of the mail begins with a dot.");
  return Buffer.from(latin1, "latin1");
}

export class RawMessage {
  readonly pieces: readonly MailPiece[];
  /** Length in bytes. */
  readonly length: number;

  constructor(pieces: readonly MailPiece[]) {
    let length = 0;
    for (let n = 0; n < pieces.length; n++) length += pieces[n]!.length;
    this.pieces = pieces;
    this.length = length;
  }

  /** Writes the email to `memory`. Returns false if a line begins with a dot, which would end the message in SMTP. */
  writeTo(memory: Buffer): boolean {
    const { pieces } = this;
    let at = 0;
    let isDotted = false;
    for (let n = 0; n < pieces.length; n++) {
      const piece = pieces[n]!;
      if (typeof piece === "string") {
        if (piece === "") continue;
        isDotted ||= piece.includes("\n.");
        memory.write(piece, at, "latin1");
      } else {
        memory.set(piece, at);
      }
      isDotted ||= memory[at] === DOT && (at === 0 || memory[at - 1] === LF);
      at += piece.length;
    }
    return !isDotted;
  }

  toString(): string {
    return this.pieces.map((piece) => (typeof piece === "string" ? piece : piece.toString("latin1"))).join("");
  }
}
