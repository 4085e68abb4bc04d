/**
 * The interfaces between a batch, the source of its recipients and the transport that delivers it. A batch never imports
 * the transport, and the transport knows of a batch only what stands here.
 */
import type { CopyAddress } from "../../../models/sent-email-copy.ts";
import type { Warmup } from "../../../models/warmup-ledger.ts";
import type { MakeMail, Rendered } from "../../renderer/contract.ts";
import type { DomainGate, DomainRoom } from "../domains/domain-gate.ts";
import type { HourGrant, HourToken, HourTokens } from "../limits/hour-limit.ts";
import type { Reply } from "../smtp/replies.ts";
import type { OutgoingMessage } from "../smtp/transaction.ts";
import type { CopyOutcome } from "./copies.ts";
import type { EnvelopeSender } from "./envelope-sender.ts";
import type { Outcome } from "./outcome.ts";
import type { LeasedChunk } from "./recorded-result.ts";
import type { ClaimableCampaign, RecipientRow } from "./rows.ts";

/** One recipient's mail before a connection asks for it: marked in the database, and not made yet unless it is signed. */
export interface WaitingMail {
  row: RecipientRow;
  mail: Rendered | MakeMail;
  /** Its token of the company's hour. */
  token: HourToken;
  /** Its room within the limits of its domain. */
  room: DomainRoom | undefined;
  /** When it was last asked whether the recipient may get it. */
  checkedAtMs: number;
  /** How many sessions it was given to that ended before they could send it. */
  endedSessions: number;
}

/** One recipient's mail on its way, made for the connection that has asked; or a transaction with copies of it. */
export class Mail implements OutgoingMessage {
  readonly from: string;
  readonly to: readonly string[];
  readonly body: OutgoingMessage["body"];
  readonly bytes: number;
  readonly smtpUtf8: boolean;
  readonly eightBit: boolean;
  readonly batch: Batch;
  readonly row: RecipientRow;
  /** As it waited. */
  readonly mail: Rendered | MakeMail;
  /** Its token of the company's hour. */
  readonly token: HourToken;
  /** Its room within the limits of its domain; not any more once it was handed over. */
  room: DomainRoom | undefined;
  /** When it was last asked whether the recipient may get it. */
  checkedAtMs: number;
  /** When a connection took it last. */
  handedAtMs = 0;
  /** How many sessions it was given to that ended before they could send it. */
  endedSessions: number;
  /** For cc and bcc, sent when it was accepted. */
  copies: PreparedCopies | undefined;
  /** Set on a transaction with copies: what it belongs to, and to whom it goes (in the order of `to`). */
  copyOf: CopyDelivery | undefined;
  addresses: readonly CopyAddress[] | undefined;

  constructor(batch: Batch, waiting: WaitingMail, message: OutgoingMessage) {
    this.from = message.from;
    this.to = message.to;
    this.body = message.body;
    this.bytes = message.bytes;
    this.smtpUtf8 = message.smtpUtf8;
    this.eightBit = message.eightBit;
    this.batch = batch;
    this.row = waiting.row;
    this.mail = waiting.mail;
    this.token = waiting.token;
    this.room = waiting.room;
    this.checkedAtMs = waiting.checkedAtMs;
    this.endedSessions = waiting.endedSessions;
  }

  /** A transaction with these copies of it. */
  copy(copyOf: CopyDelivery, { addresses, ...message }: CopyMessage): Mail {
    const copy = new Mail(this.batch, { ...this, endedSessions: this.copyOf ? this.endedSessions : 0 }, message);
    copy.copyOf = copyOf;
    copy.addresses = addresses;
    return copy;
  }

  /** The lease is ours, and its room in the hour has not expired. Copies count in no hour once their mail is out. */
  mayStillSend(): boolean {
    const { batch, row, token } = this;
    return batch.source.leaseIsOurs(row) && (this.copyOf !== undefined || batch.hour.isValid(token));
  }
}

type CopyMessage = OutgoingMessage & { addresses: readonly CopyAddress[] };

/** The copies of one mail. */
export interface PreparedCopies {
  suppressed: readonly CopyOutcome[];
  messages: readonly CopyMessage[];
}

/** The copies of a mail that was accepted, under way. */
export interface CopyDelivery {
  readonly primary: Mail;
  /** What the server said when it accepted the primary. */
  readonly accepted: Reply;
  readonly outcomes: CopyOutcome[];
  /** Transactions that are not over. */
  underWay: number;
}

/** A leased chunk, due retries, or due copies. */
export type BatchKind = "chunk" | "retries" | "copies";

/** Where the recipients of a batch come from: the rows of a leased chunk, or due retries and copies claimed one by one. */
export interface RecipientSource {
  readonly kind: BatchKind;
  readonly chunk: LeasedChunk | null;
  readonly exhausted: boolean;
  /** About how many it has. */
  readonly left: number;
  /** When the oldest of the rows that were taken last was read. */
  readonly readAtMs: number;
  take(n: number): Promise<RecipientRow[]>;
  /** False: they cannot be taken from here again, so their state must be written. */
  putBack(rows: readonly RecipientRow[]): boolean;
  /** Recipients up to `seq` may be handed over from now on. False: the lease is no longer ours. */
  mark(seq: number, urgent: boolean): Promise<boolean>;
  unmark(seq: number): Promise<boolean>;
  /** Whether the mark in the database may cover the row: a crash now would put it in doubt. */
  isMarked(row: RecipientRow): boolean;
  leaseIsOurs(row: RecipientRow): boolean;
  /** The recipient was claimed by itself, with this number of tries, and has no result yet. */
  holds(seq: number, attempts: number): boolean;
  /** Its result is on its way to the database. */
  settled(row: RecipientRow): void;
  renew(): Promise<boolean>;
}

/** Recipients of one campaign that this node delivers: a leased chunk, due retries, or due copies. */
export interface Batch {
  readonly kind: BatchKind;
  readonly campaign: ClaimableCampaign;
  readonly source: RecipientSource;
  readonly chunk: LeasedChunk | null;
  readonly hour: HourTokens;
  readonly sender: EnvelopeSender;
  readonly ready: WaitingMail[];
  /** Recipients taken from the source, and neither recorded nor put back. */
  unrecorded: number;
  readonly state: "open" | "ending" | "over";
  /** Put back while the database still has them marked: they keep their share of the budget. */
  readonly reserved: number;
  /** Recipients of a chunk whose results are written before, or together with, the next mark (Recorder.promised). */
  readonly promised: number;
  /** About how many more recipients it will bring. */
  readonly left: number;
  /** How many connections have in hand. */
  readonly handedOver: number;
  /** The batch with the campaign's chunk before this one, while there is one. */
  previous: Batch | undefined;
  /** The next chunk has been looked for. */
  askedForMore: boolean;
  /** Prepares the next group, if the transport and the budget have room for one. */
  fill(): void;
  next(): Mail | undefined;
  /** Checks mails that have been waiting: called a few times a second. */
  recheck(): void;
  /** A connection ended before it could send this one. */
  again(mail: Mail): void;
  /**
   * Final result of a mail that was handed over; `countsInHour`: it was accepted, or may have been. `copies`: what became of
   * its copies, where it was accepted.
   */
  answered(
    mail: Mail,
    outcome: Outcome,
    delayMs: number | null,
    countsInHour: boolean,
    copies?: readonly CopyOutcome[],
  ): void;
  /** Queued: it is looked at again after `delayMs`. */
  record(row: RecipientRow, outcome: Outcome, delayMs?: number | null): void;
  putBack(rows: readonly RecipientRow[]): void;
  /** Gives ready mails back, so that a server which hangs keeps none of the budget for them. */
  takeBackReady(): void;
  waitForRoom(grant: HourGrant): void;
  /** Prepares nothing more; what was handed over is waited for. */
  end(): void;
  /** Another sender has the lease, or will have: nothing more may be handed over or written. */
  leaseLost(): void;
  endIfDone(): void;
}

/** What a batch asks of the transport that delivers it. */
export interface BatchHost {
  /** Null: any number of mails may leave on a day. */
  readonly warmup: Warmup | null;
  readonly connectionCount: number;
  readonly domains: DomainGate;
  /** How many more recipients the batch may prepare now. */
  allowance(batch: Batch): number;
  takeBudget(wanted: number, batch: Batch): number;
  returnBudget(n: number): void;
  /** The size of a mail that was made. */
  noteMailBytes(bytes: number): void;
  /** There may be something to send. */
  wake(): void;
  recorded(n: number): void;
  removeBatch(batch: Batch): void;
}

/** A node prepares and marks recipients in groups of at most so many, because each group costs two statements. */
export const MAX_GROUP = 100;
