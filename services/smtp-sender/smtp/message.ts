/** What an SMTP transaction carries, what becomes of it, and where messages come from. */
import type { MailBytes } from "../../lib/mail-bytes.ts";
import type { Reply } from "./replies.ts";
import type { Session } from "./session.ts";

/** One transaction. Addresses are in wire form: ASCII or, with `smtpUtf8`, UTF-8 bytes as latin1 characters. */
export interface OutgoingMessage {
  from: string;
  to: readonly string[];
  /**
   * The message in one piece or two, with CRLF lines, as latin1 characters or as bytes, which are released when they are
   * written. The second may be shared by many messages, and has no line that begins with a dot.
   */
  body: readonly (string | MailBytes)[];
  bytes: number;
  smtpUtf8: boolean;
  eightBit: boolean;
}

export type RefusedStage = "mail" | "rcpt" | "data" | "endOfData";

type Refusals = readonly { to: string; reply: Reply }[];

export type TransactionResult =
  | { kind: "accepted"; reply: Reply; refused: Refusals }
  /** `refused`: recipients' own refusals, where there were several recipients. */
  | { kind: "refused"; stage: RefusedStage; reply: Reply; refused?: Refusals }
  /** Its final dot was written and no reply came: it may have been accepted. */
  | { kind: "doubt"; reason: string }
  /** Certainly not accepted, and the session has ended. `reply`: the 421, where there was one. */
  | { kind: "unsent"; reason: string; reply?: Reply | undefined }
  /** This server cannot take it, now or later. */
  | { kind: "impossible"; reason: string };

/** Where a session gets its messages and delivers their results: connections pull. */
export interface MessageSource<L extends OutgoingMessage> {
  next(): L | undefined;
  /** Asked right before the body is written: from then on the message cannot be withdrawn. */
  mayStillSend(message: L): boolean;
  answered(message: L, result: TransactionResult): void;
  closed(reason: string, reply?: Reply): void;
}

/** Why this server can never take the message; undefined if it can. */
export function messageError(message: OutgoingMessage, { size, smtpUtf8, eightBitMime }: Session): string | undefined {
  if (message.smtpUtf8 && !smtpUtf8) return "The address needs SMTPUTF8, which the SMTP server does not offer.";
  if (message.eightBit && !eightBitMime) return "The message needs 8BITMIME, which the SMTP server does not offer.";
  if (size && message.bytes > size) {
    return `The message has ${message.bytes} bytes, the SMTP server takes at most ${size}.`;
  }
  return undefined;
}
