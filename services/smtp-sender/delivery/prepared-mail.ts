/** Makes a recipient's mail, and its copy for cc and bcc, when a connection asks for it. */
import type { CopyAddress } from "../../../models/sent-email-copy.ts";
import type { Rendered } from "../../renderer/contract.ts";
import type { OutgoingMessage } from "../smtp/transaction.ts";
import { type Batch, Mail, type PreparedCopies, type WaitingMail } from "./batch.ts";
import { allowedCopies } from "./copies.ts";
import { type WireAddress, wireAddress } from "./envelope-sender.ts";
import type { Outcome } from "./outcome.ts";
import type { RecipientRow } from "./rows.ts";

type RenderedMail = Extract<Rendered, { ok: true }>;

export const notRendered = (reason: string): Outcome => ({
  status: "failed",
  error: `The mail could not be rendered: ${reason}`,
  reply: null,
});

/** Memory that it takes; attachments are the same string for all recipients. */
export const memoryOf = (mail: Rendered): number => (mail.ok ? mail.raw.length + (mail.copy?.length ?? 0) : 0);

/** One transaction with a mail that was made. */
export function outgoingMessage(
  sender: WireAddress,
  to: readonly string[],
  raw: RenderedMail["raw"],
  mail: RenderedMail,
): OutgoingMessage {
  const recipients = to.map(wireAddress);
  return {
    from: sender.text,
    to: recipients.map(({ text }) => text),
    body: mail.tail === undefined ? [raw] : [raw, mail.tail],
    bytes: raw.length + (mail.tail?.length ?? 0),
    smtpUtf8: mail.smtputf8 || sender.smtpUtf8 || recipients.some(({ smtpUtf8 }) => smtpUtf8),
    eightBit: mail.eightBit,
  };
}

const needsSmtpUtf8 = ({ email }: CopyAddress): boolean => wireAddress(email).smtpUtf8;

/** The transactions for these copies of a mail: `copy` is any message that has their body. */
export function copyMessages(copy: OutgoingMessage, copies: readonly CopyAddress[]): PreparedCopies["messages"] {
  const groups = [copies.filter((one) => !needsSmtpUtf8(one)), copies.filter(needsSmtpUtf8)];
  return groups.flatMap((addresses, group) => {
    if (addresses.length === 0) return [];
    const to = addresses.map(({ email }) => wireAddress(email).text);
    const { from, body, bytes, eightBit, smtpUtf8 } = copy;
    return [{ from, to, body, bytes, eightBit, smtpUtf8: smtpUtf8 || group === 1, addresses }];
  });
}

function preparedCopies(from: WireAddress, row: RecipientRow, mail: RenderedMail): PreparedCopies {
  const { allowed, suppressed } = allowedCopies(row);
  return { suppressed, messages: copyMessages(outgoingMessage(from, [], mail.copy ?? mail.raw, mail), allowed) };
}

/** The mail as it goes out, or why there is none. `bytes`: memory that it takes until its transaction is over. */
export function preparedMail(
  batch: Batch,
  waiting: WaitingMail,
): { prepared: Mail; bytes: number } | { error: string } {
  const { row, mail } = waiting;
  const made = typeof mail === "function" ? mail() : mail;
  if (!made.ok) return made;
  const own = row.copy_email
    ? outgoingMessage(batch.sender(row, true), [row.copy_email], made.copy ?? made.raw, made)
    : outgoingMessage(batch.sender(row, false), [row.email], made.raw, made);
  const prepared = new Mail(batch, waiting, own);
  if (!row.copy_email && (row.cc || row.bcc)) prepared.copies = preparedCopies(batch.sender(row, true), row, made);
  return { prepared, bytes: memoryOf(made) };
}
