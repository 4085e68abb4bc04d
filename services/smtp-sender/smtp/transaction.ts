/** Defines a mail transaction: its message, its commands up to DATA, the meaning of the replies, and its result. */
import type { RawMessage } from "../../lib/raw-message.ts";
import { NotSmtp, type Reply } from "./replies.ts";
import type { Session } from "./session.ts";

/**
 * Message of one transaction. Addresses are in wire form: ASCII or, with `smtpUtf8`, UTF-8 bytes as latin1 characters.
 */
export interface OutgoingMessage {
  from: string;
  to: readonly string[];
  /**
   * The message in one or two parts with CRLF lines, as latin1 characters. The second may be shared by many messages
   * and has no line that begins with a dot.
   */
  body: readonly (string | RawMessage)[];
  bytes: number;
  smtpUtf8: boolean;
  eightBit: boolean;
  /**
   * True: its recipient may no longer get it. Called right before the body is written, the last moment to withdraw it.
   */
  isWithdrawn?(): boolean;
  /** False: another sender may already send it. Called right before the body is written. */
  mayStillSend?(): boolean;
}

export type RefusedStage = "mail" | "rcpt" | "data" | "endOfData";

type Refusals = readonly { to: string; reply: Reply }[];

export type TransactionResult =
  | { kind: "accepted"; reply: Reply; refused: Refusals }
  /** `refused`: refusals of individual recipients, if there were several. */
  | { kind: "refused"; stage: RefusedStage; reply: Reply; refused?: Refusals }
  /** The final dot was written and no reply was received: it may have been accepted. */
  | { kind: "doubt"; reason: string }
  /**
   * Certainly not accepted, and the session has ended. `reply`: the 421, if any; `withdrawn`: the sender ended it
   * because of `isWithdrawn`.
   */
  | { kind: "unsent"; reason: string; reply?: Reply | undefined; withdrawn?: boolean }
  /** The server can never accept the message. */
  | { kind: "impossible"; reason: string };

/** Command that a reply belongs to. "emptyData" ends an empty message without recipients, "endOfData" a real one. */
export type Stage = "rset" | "mail" | "rcpt" | "data" | "endOfData" | "emptyData" | "noop" | "quit";

interface Failure {
  stage: RefusedStage;
  reply: Reply;
}

export interface Transaction {
  message: OutgoingMessage;
  /** Recipients that the server accepted. */
  accepted: number;
  refused: { to: string; reply: Reply }[];
  /** The first reply that prevents it from being sent. */
  failure: Failure | undefined;
  /** Resolves `Connection.send`. */
  answer(result: TransactionResult): void;
}

export interface Command {
  stage: Stage;
  text: string;
  transaction: Transaction | undefined;
  to?: string;
}

/** Reason why this server can never accept the message; undefined if it can. */
export function messageError(message: OutgoingMessage, { size, smtpUtf8, eightBitMime }: Session): string | undefined {
  if (message.smtpUtf8 && !smtpUtf8) return "The address needs SMTPUTF8, which the SMTP server does not offer.";
  if (message.eightBit && !eightBitMime) return "The message needs 8BITMIME, which the SMTP server does not offer.";
  if (size && message.bytes > size) {
    return `The message has ${message.bytes} bytes; the SMTP server accepts at most ${size}.`;
  }
  return undefined;
}

/** `resetFirst`: the server is or may be in the previous transaction; RSET is sent in the same write. */
export function envelope(transaction: Transaction, session: Session, resetFirst: boolean): Command[] {
  const { from, to, bytes, eightBit, smtpUtf8 } = transaction.message;
  const size = session.size === undefined ? "" : ` SIZE=${bytes}`;
  const extras = `${size}${eightBit ? " BODY=8BITMIME" : ""}${smtpUtf8 ? " SMTPUTF8" : ""}`;
  const commands: Command[] = [];
  if (resetFirst) commands.push({ stage: "rset", text: "RSET\r\n", transaction: undefined });
  commands.push({ stage: "mail", text: `MAIL FROM:<${from}>${extras}\r\n`, transaction });
  for (const address of to) {
    commands.push({ stage: "rcpt", text: `RCPT TO:<${address}>\r\n`, transaction, to: address });
  }
  commands.push({ stage: "data", text: "DATA\r\n", transaction });
  return commands;
}

/**
 * True for a 503, "bad sequence of commands" (RFC 5321 section 4.2.2), to a correct sequence: it concerns the session,
 * not a sender or a recipient. It is the usual reply after a refused MAIL, or without an accepted recipient.
 */
export function isOutOfSequence({ stage, transaction }: Command, reply: Reply): boolean {
  if (reply.code !== 503 || !transaction) return false;
  if (stage === "mail") return true;
  if (transaction.failure?.stage === "mail") return false;
  return stage === "rcpt" || (stage === "data" && transaction.accepted > 0);
}

/** Notes the reply to MAIL or RCPT. */
export function noteEnvelopeReply({ stage, transaction, to }: Command, reply: Reply): void {
  if (reply.code >= 300 && reply.code < 400) throw new NotSmtp(`No answer to ${stage.toUpperCase()}: ${reply.text}`);
  const { failure } = transaction!;
  if (stage === "mail") {
    if (reply.code >= 400) transaction!.failure = { stage: "mail", reply };
  } else if (reply.code < 300) {
    transaction!.accepted++;
  } else {
    transaction!.refused.push({ to: to!, reply });
    if (!failure) transaction!.failure = { stage: "rcpt", reply };
  }
}

/** `failure`: the decisive reply. The refusal of a single recipient is that one. */
export function refusedResult({ message, refused }: Transaction, failure: Failure): TransactionResult {
  return message.to.length === 1 ? { kind: "refused", ...failure } : { kind: "refused", ...failure, refused };
}

/**
 * Interprets the reply to DATA. `expectsMessage`: the server now expects a message; `hasRecipients`: somebody would get
 * it; `failure`: the decisive reply if it is not sent.
 */
export function dataReply({ accepted, failure }: Transaction, reply: Reply) {
  if (reply.code < 300 || (reply.code < 400 && reply.code !== 354)) {
    throw new NotSmtp(`No answer to DATA: ${reply.text}`);
  }
  const hasRecipients = accepted > 0 && failure?.stage !== "mail";
  const blamed: Failure = hasRecipients || !failure ? { stage: "data", reply } : failure;
  return { expectsMessage: reply.code === 354, hasRecipients, failure: blamed };
}
