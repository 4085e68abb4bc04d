/** The commands of a mail transaction up to DATA. */
import type { Letter } from "./letter.ts";
import type { Reply } from "./reply.ts";
import type { Session } from "./session.ts";

/** What an answer belongs to. "nothing" is the end of an empty message that nobody gets. */
export type Stage = "rset" | "mail" | "rcpt" | "data" | "dot" | "nothing" | "quit";

export interface Transaction<L extends Letter> {
  letter: L;
  accepted: number;
  refused: { to: string; reply: Reply }[];
  /** The first answer that keeps it from being sent. */
  failure: { stage: "mail" | "rcpt" | "data" | "dot"; reply: Reply } | undefined;
}

export interface Command<L extends Letter> {
  stage: Stage;
  text: string;
  transaction: Transaction<L> | undefined;
  to?: string;
}

/** A transaction that got as far as MAIL and no further leaves the server in its midst: RSET comes first, in the same write. */
export function envelope<L extends Letter>(
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
