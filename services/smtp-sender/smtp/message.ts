/** What the SMTP transactions carry, and what becomes of it. */
import type { Reply } from "./replies.ts";
import type { Session } from "./session.ts";

/** One transaction. Addresses as they go over the wire: ASCII, or UTF-8 bytes as latin1 characters with `smtpUtf8`. */
export interface OutgoingMessage {
  from: string;
  to: readonly string[];
  /**
   * The message in one piece or two, as latin1 characters with CRLF lines. The second may be shared by many letters, and
   * has no line that begins with a dot.
   */
  body: readonly string[];
  bytes: number;
  smtpUtf8: boolean;
  eightBit: boolean;
}

export type TransactionResult =
  | { kind: "accepted"; reply: Reply; refused: readonly { to: string; reply: Reply }[] }
  | { kind: "refused"; stage: "mail" | "rcpt" | "data" | "dot"; reply: Reply }
  /** Its dot was written and no answer came: nobody knows. */
  | { kind: "doubt"; reason: string }
  /** Certainly not accepted, and the session is over. `reply`: the 421, where there was one. */
  | { kind: "unsent"; reason: string; reply?: Reply | undefined }
  /** This server cannot take it, now or later. */
  | { kind: "impossible"; reason: string };

/** Where letters come from and verdicts go: connections pull. */
export interface MessageSource<L extends OutgoingMessage> {
  next(): L | undefined;
  /** Asked right before the body is written, after which nothing can be taken back. */
  stillOurs(letter: L): boolean;
  answered(letter: L, verdict: TransactionResult): void;
  closed(reason: string, reply?: Reply): void;
}

export function messageError(letter: OutgoingMessage, { size, smtpUtf8, eightBitMime }: Session): string | undefined {
  if (letter.smtpUtf8 && !smtpUtf8) return "The address needs SMTPUTF8, which the SMTP server does not offer.";
  if (letter.eightBit && !eightBitMime) return "The message needs 8BITMIME, which the SMTP server does not offer.";
  if (size && letter.bytes > size) {
    return `The message has ${letter.bytes} bytes, the SMTP server takes at most ${size}.`;
  }
  return undefined;
}
