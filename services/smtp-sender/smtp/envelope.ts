/** The commands of a mail transaction up to DATA, and what their answers mean for it. */
import type { OutgoingMessage } from "./message.ts";
import { NotSmtp, type Reply } from "./replies.ts";
import type { Session } from "./session.ts";

/** What an answer belongs to. "nothing" is the end of an empty message that nobody gets. */
export type Stage = "rset" | "mail" | "rcpt" | "data" | "dot" | "nothing" | "quit";

export interface Failure {
  stage: "mail" | "rcpt" | "data" | "dot";
  reply: Reply;
}

export interface Transaction<L extends OutgoingMessage> {
  letter: L;
  accepted: number;
  refused: { to: string; reply: Reply }[];
  /** The first answer that keeps it from being sent. */
  failure: Failure | undefined;
}

export interface Command<L extends OutgoingMessage> {
  stage: Stage;
  text: string;
  transaction: Transaction<L> | undefined;
  to?: string;
}

/** A transaction that got as far as MAIL and no further leaves the server in its midst: RSET comes first, in the same write. */
export function envelope<L extends OutgoingMessage>(
  transaction: Transaction<L>,
  session: Session,
  resetFirst: boolean,
): Command<L>[] {
  const { from, to, bytes, eightBit, smtpUtf8 } = transaction.letter;
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

/** An answer to MAIL or RCPT. */
export function noteAnswer<L extends OutgoingMessage>({ stage, transaction, to }: Command<L>, reply: Reply): void {
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

/** An answer to DATA: whether a message is waited for, whether anybody would get it, and what is to blame if not. */
export function judgeData<L extends OutgoingMessage>({ accepted, failure }: Transaction<L>, reply: Reply) {
  if (reply.code < 300 || (reply.code < 400 && reply.code !== 354)) {
    throw new NotSmtp(`No answer to DATA: ${reply.text}`);
  }
  const wanted = accepted > 0 && failure?.stage !== "mail";
  const blame: Failure = wanted || !failure ? { stage: "data", reply } : failure;
  return { goes: reply.code === 354, wanted, failure: blame };
}
