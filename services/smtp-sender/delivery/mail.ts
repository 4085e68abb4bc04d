/** Email of one recipient, from its row to its result. It is rendered when a connection asks for it. */
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

/** The batch (batch.ts) as seen by its emails and by the delivery steps. */
export interface MailBatch {
  readonly kind: BatchKind;
  readonly campaign: ClaimableCampaign;
  readonly chunk: LeasedChunk | null;
  readonly source: RecipientSource;
  readonly sender: EnvelopeSender;
  readonly state: "open" | "ending" | "over";
  /** The campaign was stopped, or the company paused: emails that have not started go back. */
  readonly isStopped: boolean;
  /** Prepared emails that wait for a connection. */
  readonly ready: Mail[];
  /** Records the result. Queued: retried after `delayMs`. `isUsed`: the email was accepted, or may have been. */
  record(
    mail: Mail,
    outcome: Outcome,
    delayMs?: number | null,
    isUsed?: boolean,
    copies?: readonly CopyOutcome[],
  ): void;
  /** A connection took the email and did not send it. */
  again(mail: Mail): void;
  putBack(mails: readonly Mail[]): void;
  waitForTokens(grant: HourGrant): void;
  /** Notes the size of a rendered email. */
  noteMailBytes(bytes: number): void;
  /** Prepares nothing more and waits for handed-over emails. */
  end(): void;
  /** Another sender has the lease or will get it: nothing more may be handed over or written. */
  leaseLost(): void;
}

/** A transaction with copies of an email, and their addresses (in the order of `to`). */
type CopyMessage = OutgoingMessage & { addresses: readonly CopyAddress[] };

/** The copies of one email. */
interface MailCopies {
  suppressed: readonly CopyOutcome[];
  messages: readonly CopyMessage[];
}

/** The copies of an accepted email, while they are being sent. */
export interface CopyDelivery {
  readonly primary: Mail;
  /** The reply that accepted the email itself. */
  readonly accepted: Reply;
  readonly outcomes: CopyOutcome[];
  /** Unfinished transactions. */
  underWay: number;
}

type RenderedMail = Extract<Rendered, { ok: true }>;

export const notRendered = (reason: string): Outcome => ({
  status: "failed",
  error: `The mail could not be rendered: ${reason}`,
  reply: null,
});

/** Memory of a rendered email; attachments are one string shared by all recipients. */
export const memoryOf = (mail: Rendered): number => (mail.ok ? mail.raw.length + (mail.copy?.length ?? 0) : 0);

/** A message for one transaction with a rendered email. */
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

/** Builds the transactions for copies of an email. `copy`: any message with their body. */
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
  /** Time of the last suppression check, by the monotonic clock. */
  checkedAtMs: number;
  /** The function that renders it; signed emails are rendered as a group. */
  rendered: Rendered | MakeMail | undefined;
  /** Time at which a connection last took it. */
  handedAtMs = 0;
  /** True if the body may have been written, so that the email cannot be withdrawn. */
  bodyBegan = false;
  /** Number of sessions that ended before sending it. */
  endedSessions = 0;
  /** Copies (cc, bcc), sent once the email is accepted. */
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

  /** Renders the message for a connection. Returns the reason if it cannot be rendered. */
  make(): string | undefined {
    const { batch, row, rendered } = this;
    const renderedMail = typeof rendered === "function" ? rendered() : rendered!;
    if (!renderedMail.ok) return renderedMail.error;
    if (row.copy_email) {
      this.#carry(
        outgoingMessage(batch.sender(row, true), [row.copy_email], renderedMail.copy ?? renderedMail.raw, renderedMail),
      );
    } else {
      this.#carry(outgoingMessage(batch.sender(row, false), [row.email], renderedMail.raw, renderedMail));
      if (row.cc || row.bcc) this.copies = mailCopies(batch.sender(row, true), row, renderedMail);
    }
    batch.noteMailBytes(memoryOf(renderedMail));
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

  /** Creates a transaction with these copies. Needs no permit: they are sent right after their mail. */
  copy(copyOf: CopyDelivery, message: CopyMessage): Mail {
    const copy = new Mail(this.batch, this.row, this.permit, this.checkedAtMs);
    copy.#carry(message);
    copy.addresses = message.addresses;
    copy.copyOf = copyOf;
    if (this.copyOf) copy.endedSessions = this.endedSessions;
    return copy;
  }

  /**
   * True if the recipient may not get it, as of the last check. A copy is judged together with all copies of its
   * transaction.
   */
  isWithdrawn(): boolean {
    const { batch, row } = this;
    if (batch.isStopped) return true;
    if (this.copyOf) return allowedCopies(row, this.addresses).suppressed.length > 0;
    return outcomeUnsent(row, batch.campaign) !== undefined;
  }

  /** True while the lease is ours and the hourly token has not expired. Copies use no token once their mail is sent. */
  mayStillSend(): boolean {
    this.bodyBegan = this.batch.source.leaseIsOurs(this.row) && (this.copyOf !== undefined || this.permit.isValid);
    return this.bodyBegan;
  }
}
