/** The commands of a mail transaction up to DATA, and what the replies to them mean for it. */
import type { OutgoingMessage, RefusedStage, TransactionResult } from "./message.ts";
import { NotSmtp, type Reply } from "./replies.ts";
import type { Session } from "./session.ts";

/** What a reply belongs to. "emptyData" ends an empty message that nobody gets, "endOfData" a real one. */
export type Stage = "rset" | "mail" | "rcpt" | "data" | "endOfData" | "emptyData" | "quit";

interface Failure {
  stage: RefusedStage;
  reply: Reply;
}

export interface Transaction<L extends OutgoingMessage> {
  message: L;
  /** Recipients that the server accepted. */
  accepted: number;
  refused: { to: string; reply: Reply }[];
  /** The first reply that prevents it from being sent. */
  failure: Failure | undefined;
}

export interface Command<L extends OutgoingMessage> {
  stage: Stage;
  text: string;
  transaction: Transaction<L> | undefined;
  to?: string;
}

/** `resetFirst`: the server is, or may still be, in the transaction before. RSET goes out in the same write. */
export function envelope<L extends OutgoingMessage>(
  transaction: Transaction<L>,
  session: Session,
  resetFirst: boolean,
): Command<L>[] {
  const { from, to, bytes, eightBit, smtpUtf8 } = transaction.message;
  const size = session.size === undefined ? "" : ` SIZE=${bytes}`;
  const extras = `${size}${eightBit ? " BODY=8BITMIME" : ""}${smtpUtf8 ? " SMTPUTF8" : ""}`;
  const commands: Command<L>[] = [];
  if (resetFirst) commands.push({ stage: "rset", text: "RSET\r\n", transaction: undefined });
  commands.push({ stage: "mail", text: `MAIL FROM:<${from}>${extras}\r\n`, transaction });
  for (const address of to) {
    commands.push({ stage: "rcpt", text: `RCPT TO:<${address}>\r\n`, transaction, to: address });
  }
  commands.push({ stage: "data", text: "DATA\r\n", transaction });
  return commands;
}

/**
 * 503, "bad sequence of commands" (RFC 5321 section 4.2.2), where the sequence was right: it speaks of the session and is
 * no verdict on a sender or a recipient. After a refused MAIL, or without an accepted recipient, it is the usual reply.
 */
export function isOutOfSequence<L extends OutgoingMessage>({ stage, transaction }: Command<L>, reply: Reply): boolean {
  if (reply.code !== 503 || !transaction) return false;
  if (stage === "mail") return true;
  if (transaction.failure?.stage === "mail") return false;
  return stage === "rcpt" || (stage === "data" && transaction.accepted > 0);
}

/** Takes the reply to MAIL or RCPT. */
export function noteEnvelopeReply<L extends OutgoingMessage>(
  { stage, transaction, to }: Command<L>,
  reply: Reply,
): void {
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

/** `failure`: the reply to blame. A single recipient's own refusal is that one. */
export function refusedResult<L extends OutgoingMessage>(
  { message, refused }: Transaction<L>,
  failure: Failure,
): TransactionResult {
  return message.to.length === 1 ? { kind: "refused", ...failure } : { kind: "refused", ...failure, refused };
}

/**
 * The reply to DATA. `expectsMessage`: the server now waits for a message; `hasRecipients`: somebody would get it;
 * `failure`: the reply to blame where it is not sent.
 */
export function dataReply<L extends OutgoingMessage>({ accepted, failure }: Transaction<L>, reply: Reply) {
  if (reply.code < 300 || (reply.code < 400 && reply.code !== 354)) {
    throw new NotSmtp(`No answer to DATA: ${reply.text}`);
  }
  const hasRecipients = accepted > 0 && failure?.stage !== "mail";
  const blamed: Failure = hasRecipients || !failure ? { stage: "data", reply } : failure;
  return { expectsMessage: reply.code === 354, hasRecipients, failure: blamed };
}
