/** One recipient's mail, from its row to its result. It is made when a connection asks for it. */
import type { CopyAddress } from "../../../models/sent-email-copy.ts";
import type { MakeMail, Rendered } from "../../renderer/contract.ts";
import type { HourGrant } from "../limits/hour-limit.ts";
import type { Reply } from "../smtp/replies.ts";
import type { OutgoingMessage } from "../smtp/transaction.ts";
import { allowedCopies, type CopyOutcome } from "./copies.ts";
import { type EnvelopeSender, type WireAddress, wireAddress } from "./envelope-sender.ts";
import type { Outcome } from "./outcome.ts";
import type { Permit } from "./permit.ts";
import type { RecipientSource } from "./recipient-source.ts";
import type { LeasedChunk } from "./recorded-result.ts";
import type { BatchKind, ClaimableCampaign, RecipientRow } from "./rows.ts";
import { outcomeUnsent } from "./suppression.ts";

/** The batch (batch.ts) as its mails, and the steps of their life, see it. */
export interface MailBatch {
  readonly kind: BatchKind;
  readonly campaign: ClaimableCampaign;
  readonly chunk: LeasedChunk | null;
  readonly source: RecipientSource;
  readonly sender: EnvelopeSender;
  readonly state: "open" | "ending" | "over";
  /** Its campaign was stopped, or its company paused: mails that have not begun go back. */
  readonly isStopped: boolean;
  /** Prepared, and waiting for a connection. */
  readonly ready: Mail[];
  /** Its result. Queued: it is looked at again after `delayMs`. `isUsed`: it was accepted, or may have been. */
  record(
    mail: Mail,
    outcome: Outcome,
    delayMs?: number | null,
    isUsed?: boolean,
    copies?: readonly CopyOutcome[],
  ): void;
  /** A connection that was given the mail has not sent it. */
  again(mail: Mail): void;
  putBack(mails: readonly Mail[]): void;
  waitForRoom(grant: HourGrant): void;
  /** The size of a mail that was made. */
  noteMailBytes(bytes: number): void;
  /** Prepares nothing more; what was handed over is waited for. */
  end(): void;
  /** Another sender has the lease, or will have: nothing more may be handed over or written. */
  leaseLost(): void;
}

/** A transaction with copies of a mail, and to whom it goes (in the order of `to`). */
type CopyMessage = OutgoingMessage & { addresses: readonly CopyAddress[] };

/** The copies of one mail. */
interface MailCopies {
  suppressed: readonly CopyOutcome[];
  messages: readonly CopyMessage[];
}

/** The copies of a mail that was accepted, under way. */
export interface CopyDelivery {
  readonly primary: Mail;
  /** The reply that accepted the primary. */
  readonly accepted: Reply;
  readonly outcomes: CopyOutcome[];
  /** Transactions that are not over. */
  underWay: number;
}

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
export function copyMessages(copy: OutgoingMessage, copies: readonly CopyAddress[]): CopyMessage[] {
  const groups = [copies.filter((one) => !needsSmtpUtf8(one)), copies.filter(needsSmtpUtf8)];
  return groups.flatMap((addresses, group) => {
    if (addresses.length === 0) return [];
    const to = addresses.map(({ email }) => wireAddress(email).text);
    const { from, body, bytes, eightBit, smtpUtf8 } = copy;
    return [{ from, to, body, bytes, eightBit, smtpUtf8: smtpUtf8 || group === 1, addresses }];
  });
}

function mailCopies(from: WireAddress, row: RecipientRow, mail: RenderedMail): MailCopies {
  const { allowed, suppressed } = allowedCopies(row);
  return { suppressed, messages: copyMessages(outgoingMessage(from, [], mail.copy ?? mail.raw, mail), allowed) };
}

export class Mail implements OutgoingMessage {
  readonly batch: MailBatch;
  readonly row: RecipientRow;
  readonly permit: Permit;
  /** When it was last asked whether the recipient may get it, by the monotonic clock. */
  checkedAtMs: number;
  /** The function that makes it; a signed mail is made with its group. */
  rendered: Rendered | MakeMail | undefined;
  /** When a connection took it last. */
  handedAtMs = 0;
  /** Its body may have been written: it cannot be withdrawn. */
  bodyBegan = false;
  /** Sessions that ended before they could send it. */
  endedSessions = 0;
  /** For cc and bcc, sent when it was accepted. */
  copies: MailCopies | undefined;
  /** Set on a transaction with copies. */
  copyOf: CopyDelivery | undefined;
  addresses: readonly CopyAddress[] | undefined;
  from = "";
  to: readonly string[] = [];
  body: OutgoingMessage["body"] = [];
  bytes = 0;
  smtpUtf8 = false;
  eightBit = false;

  constructor(batch: MailBatch, row: RecipientRow, permit: Permit, checkedAtMs: number) {
    this.batch = batch;
    this.row = row;
    this.permit = permit;
    this.checkedAtMs = checkedAtMs;
  }

  /** Makes the message for the connection that has asked. Returns why it cannot be made. */
  make(): string | undefined {
    const { batch, row, rendered } = this;
    const made = typeof rendered === "function" ? rendered() : rendered!;
    if (!made.ok) return made.error;
    if (row.copy_email) {
      this.#carry(outgoingMessage(batch.sender(row, true), [row.copy_email], made.copy ?? made.raw, made));
    } else {
      this.#carry(outgoingMessage(batch.sender(row, false), [row.email], made.raw, made));
      if (row.cc || row.bcc) this.copies = mailCopies(batch.sender(row, true), row, made);
    }
    batch.noteMailBytes(memoryOf(made));
    return undefined;
  }

  #carry(message: OutgoingMessage): void {
    this.from = message.from;
    this.to = message.to;
    this.body = message.body;
    this.bytes = message.bytes;
    this.smtpUtf8 = message.smtpUtf8;
    this.eightBit = message.eightBit;
  }

  /** A transaction with these copies of it. It needs no permit of its own: they go out right behind their mail. */
  copy(copyOf: CopyDelivery, message: CopyMessage): Mail {
    const copy = new Mail(this.batch, this.row, this.permit, this.checkedAtMs);
    copy.#carry(message);
    copy.addresses = message.addresses;
    copy.copyOf = copyOf;
    if (this.copyOf) copy.endedSessions = this.endedSessions;
    return copy;
  }

  /** The recipient may not get it, as of the last check. A copy is looked at with all that go out together. */
  isWithdrawn(): boolean {
    const { batch, row } = this;
    if (batch.isStopped) return true;
    if (this.copyOf) return allowedCopies(row, this.addresses).suppressed.length > 0;
    return outcomeUnsent(row, batch.campaign) !== undefined;
  }

  /** The lease is ours, and its room in the hour has not expired. Copies count in no hour once their mail is out. */
  mayStillSend(): boolean {
    this.bodyBegan = this.batch.source.leaseIsOurs(this.row) && (this.copyOf !== undefined || this.permit.isValid);
    return this.bodyBegan;
  }
}
