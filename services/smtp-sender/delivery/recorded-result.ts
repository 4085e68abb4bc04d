/** Results on their way into the database, and the columns of the statement that writes them (record-outcomes.ts). */
import { SENT_EMAIL_STATUS } from "../../../models/sent-email-status.ts";
import { EQUAL_REFUSALS_STOP_AT } from "../../../models/statements/record-outcomes.ts";
import type { Reply } from "../smtp/replies.ts";
import type { CopyOutcome } from "./copies.ts";
import type { Outcome } from "./outcome.ts";
import type { BounceType } from "./refusals.ts";
import type { ChunkLease } from "./rows.ts";

/** A chunk's lease as the recorder sees it. */
export interface LeasedChunk extends ChunkLease {
  companyId: string;
  campaignId: string;
  /** The last seq that may be handed over once this has been written. Every flush that touches the chunk writes it. */
  markedTo: number;
  /** The mark as it is in the database; undefined: none has been written. */
  writtenTo?: number;
  /** When the lease began or was renewed, by this process's monotonic clock. */
  validFrom: number;
  /**
   * Set when a result could not be stored at all: the highest such seq. The mark stays behind it, and the chunk is neither
   * closed nor released, so that its lease runs out and recovery treats the recipient as in doubt.
   */
  abandonedTo?: number;
  /** The database lost its last transactions while it was held: fences of it say nothing any more. */
  historyIsLost?: boolean;
}

/** What the statement is given of a mail, because its row need not have it. */
export interface RecordedMail {
  campaignNo: number;
  id: string;
  email: string;
  /** What stands before the "@" of its Message-ID. */
  messageId: string;
}

export interface RecordedResult {
  mail: RecordedMail;
  companyId: string;
  campaignId: string;
  /** Null: the recipient was claimed by itself. */
  chunk: LeasedChunk | null;
  seq: number;
  /** As claimed: the fence where there is no chunk. */
  attempts: number;
  /** Set where the result is a copy's that was claimed by itself. */
  copyNo: number | null;
  outcome: Outcome;
  /** Of a mail that was accepted. */
  copies: readonly CopyOutcome[];
  /** Deferred: until the next try. Queued and claimed by itself: 0. */
  delayMs: number | null;
  /** Learns which of its results were written. */
  by: { recorded(results: readonly RecordedResult[]): void };
  /** Ends when it is written (permit.ts). */
  permit?: { end(): void };
}

/** What a flush does to a chunk besides its results. */
export interface ChunkUpdate {
  done: boolean;
  /**
   * The furthest mark that may be written with it: as it was when the flush was put together, or, where results of the flush
   * are left to another statement, as it is in the database. A mark that goes forward is written with all the results that
   * came before it, or after them (Recorder.promised).
   */
  markedTo: number;
  resolve: ((held: boolean) => void)[];
}

/**
 * Decides which marks a statement writes. One that went back (Batch.takeBackReady) must not be written before the
 * results it went back behind. `later` are results that this statement does not write: they came after the flush was put
 * together, which may be retried for long while the database is away.
 */
export function decideMarks(chunks: ReadonlyMap<LeasedChunk, ChunkUpdate>, later: readonly RecordedResult[]): void {
  const unwritten = new Map<LeasedChunk, number>();
  for (const { chunk, seq } of later) if (chunk) unwritten.set(chunk, Math.max(seq, unwritten.get(chunk) ?? 0));
  for (const [chunk, update] of chunks) {
    const wanted = Math.min(chunk.markedTo, update.markedTo);
    update.markedTo = Math.max(wanted, unwritten.get(chunk) ?? 0, chunk.abandonedTo ?? 0);
  }
}

export function chunkColumns(chunks: ReadonlyMap<LeasedChunk, ChunkUpdate>, owner: string, leaseMs: number): unknown[] {
  const leased = [...chunks.keys()];
  const updates = [...chunks.values()];
  return [
    owner,
    leaseMs,
    leased.map(({ companyId }) => companyId),
    leased.map(({ campaignId }) => campaignId),
    leased.map(({ no }) => no),
    leased.map(({ fence }) => fence),
    updates.map(({ markedTo }) => markedTo),
    updates.map(({ done }) => done),
  ];
}

/** PostgreSQL stores no NUL; what servers say in UTF-8 arrives here as latin1 characters. */
function storable(text: string | null): string | null {
  if (text === null) return null;
  // Read as bytes only when every character is one: sentences of our own may hold anything.
  const bytes = /^[\x00-\xff]*[\x80-\xff][\x00-\xff]*$/.test(text);
  return (bytes ? Buffer.from(text, "latin1").toString("utf8") : text.toWellFormed()).replaceAll("\0", "");
}

const statusOf = ({ outcome }: { outcome: Outcome }): number =>
  SENT_EMAIL_STATUS[outcome.status === "deferred" ? "queued" : outcome.status];

/** A try counts when it is made; for a recipient claimed by itself the claim has counted it already. */
function triesMade({ chunk, outcome }: RecordedResult): number {
  const untried = outcome.status === "queued" || outcome.status === "suppressed";
  if (chunk) return untried ? 0 : 1;
  return untried ? -1 : 0;
}

/** What mails and copies have alike. */
const outcomeColumns = (results: readonly RecordedResult[]): unknown[][] => [
  results.map(({ attempts }) => attempts),
  results.map(statusOf),
  results.map(triesMade),
  results.map(({ delayMs }) => delayMs),
  results.map(({ outcome }) => storable(outcome.error)),
  results.map(({ outcome }) => storable(outcome.reply?.text ?? null)),
];

export function resultColumns(results: readonly RecordedResult[]): unknown[] {
  return [
    results.map((_, n) => n),
    results.map(({ companyId }) => companyId),
    results.map(({ campaignId }) => campaignId),
    results.map(({ chunk }) => chunk?.no ?? null),
    results.map(({ seq }) => seq),
    ...outcomeColumns(results),
  ];
}

/** The mails of these results. */
export function mailColumns(results: readonly RecordedResult[]): unknown[] {
  return [
    results.map(({ mail }) => mail.campaignNo),
    results.map(({ mail }) => mail.id),
    results.map(({ mail }) => mail.email),
    results.map(({ mail }) => mail.messageId),
  ];
}

/** Refusals with an equal text in a row. */
interface Run {
  text: string | null;
  count: number;
  /** What the server said to the last of them. */
  quote: string | null;
}

/**
 * What the results of a campaign do to its row of equal refusals, in their order. An accepted mail ends a run, and so does
 * another text; results that say nothing about the server (deferred, a dead mailbox) change nothing.
 */
interface Refusals {
  companyId: string;
  /** Continues the run that is stored; empty where the first result of interest is an accepted mail. */
  head: Run;
  ended: boolean;
  /** The last run behind the head, or one that stops the campaign by itself. */
  tail: Run;
}

const noRun = (): Run => ({ text: null, count: 0, quote: null });

function noteRefusal(refusals: Refusals, text: string, quote: string | null): void {
  const { head, tail } = refusals;
  if (tail.count >= EQUAL_REFUSALS_STOP_AT) return;
  if (!refusals.ended && head.text !== null && head.text !== text) refusals.ended = true;
  const run = refusals.ended ? tail : head;
  run.count = run.text === text ? run.count + 1 : 1;
  run.text = text;
  run.quote = quote;
}

function noteAccepted(refusals: Refusals): void {
  if (refusals.tail.count >= EQUAL_REFUSALS_STOP_AT) return;
  refusals.ended = true;
  refusals.tail = noRun();
}

/** Per campaign: the equal refusals in a row. */
export function campaignColumns(results: readonly RecordedResult[]): unknown[] {
  const campaigns = new Map<string, Refusals>();
  for (const { companyId, campaignId, outcome } of results) {
    const refusals = campaigns.get(campaignId) ?? { companyId, head: noRun(), ended: false, tail: noRun() };
    campaigns.set(campaignId, refusals);
    if (outcome.status === "sent") noteAccepted(refusals);
    else if (outcome.repeated !== undefined && outcome.reply) {
      noteRefusal(refusals, storable(outcome.repeated)!, storable(outcome.reply.text));
    }
  }
  const refusals = [...campaigns.values()];
  return [
    refusals.map(({ companyId }) => companyId),
    [...campaigns.keys()],
    refusals.map(({ head }) => head.text),
    refusals.map(({ head }) => head.count),
    refusals.map(({ ended }) => ended),
    refusals.map(({ tail }) => tail.text),
    refusals.map(({ tail }) => tail.count),
    refusals.map(({ head, tail }) => (tail.count >= EQUAL_REFUSALS_STOP_AT ? tail.quote : head.quote)),
  ];
}

interface BounceRow {
  n: number;
  metadata: {
    bounce_type: BounceType;
    source: "smtp";
    smtp_code: number;
    enhanced_code: string;
    diagnostic: string | null;
  };
  reason: string | null;
  kind: BounceType;
}

export function bouncesOf(results: readonly RecordedResult[]): BounceRow[] {
  return results.flatMap(({ outcome: { bounce, reply } }, n) => {
    if (!bounce || !reply) return [];
    const { code, enhanced, text } = reply as Reply;
    const diagnostic = storable(text);
    const metadata = {
      bounce_type: bounce,
      source: "smtp" as const,
      smtp_code: code,
      enhanced_code: enhanced,
      diagnostic,
    };
    return [{ n, metadata, reason: diagnostic, kind: bounce }];
  });
}

/** The copies of these mails, by the number of the mail. */
export const copyRows = (results: readonly RecordedResult[]) =>
  results.flatMap(({ copies }, n) =>
    copies.map((copy) => ({
      n,
      no: copy.no,
      email: copy.email,
      kind: copy.kind,
      status: statusOf(copy),
      attempts: copy.attempts,
      delay_ms: copy.delayMs,
      error: storable(copy.outcome.error),
      response: storable(copy.outcome.reply?.text ?? null),
    })),
  );

/** Results of copies that were claimed by themselves. */
export const copyResultColumns = (results: readonly RecordedResult[]): unknown[] => [
  results.map(({ companyId }) => companyId),
  results.map(({ campaignId }) => campaignId),
  results.map(({ seq }) => seq),
  results.map(({ copyNo }) => copyNo),
  ...outcomeColumns(results),
];
