/** Defines results to be recorded, and builds the columns of their statement (record-outcomes.ts). */
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
  /** Last seq that may be handed over once this is written. Every flush that touches the chunk writes it. */
  markedTo: number;
  /** The mark stored in the database; undefined: none has been written. */
  writtenTo?: number;
  /** Start or last renewal of the lease, by this process's monotonic clock. */
  validFrom: number;
  /**
   * Highest seq whose result could not be stored at all. The mark stays there, and the chunk is neither closed nor
   * released, so that its lease expires and recovery treats the recipient as in doubt.
   */
  abandonedTo?: number;
  /** The database lost its last transactions while the chunk was held: its fences are meaningless. */
  historyIsLost?: boolean;
}

/** Values of an email that its row may not contain. */
export interface RecordedMail {
  campaignNo: number;
  id: string;
  email: string;
  /** The part of its Message-ID before the "@". */
  messageId: string;
}

export interface RecordedResult {
  mail: RecordedMail;
  companyId: string;
  campaignId: string;
  /** Null: the recipient was claimed individually. */
  chunk: LeasedChunk | null;
  seq: number;
  /** Tries as claimed; the fence if there is no chunk. */
  attempts: number;
  /** Set if the result belongs to an individually claimed copy. */
  copyNo: number | null;
  outcome: Outcome;
  /** Set for accepted email. */
  copies: readonly CopyOutcome[];
  /** Deferred: delay until the next try. Queued and claimed individually: 0. */
  delayMs: number | null;
  /** Notified when its results are written. */
  by: { recorded(results: readonly RecordedResult[]): void };
  /** Ends when the result is written (permit.ts). */
  permit?: { end(): void };
}

/** Changes that a flush makes to a chunk besides its results. */
export interface ChunkUpdate {
  done: boolean;
  /**
   * The furthest mark that may be written with this flush: its value when the flush was assembled, or the stored one if
   * another statement writes some of the flush's results. A mark that advances is written with or after all earlier
   * results (Recorder.promised).
   */
  markedTo: number;
  resolve: ((held: boolean) => void)[];
}

/**
 * Decides which marks a statement writes. A mark that moved back (Batch.returnReady) must not be written before the
 * results it depends on. `later`: results not in this statement, because they arrived after the flush was assembled,
 * which may be retried for long during an outage.
 */
export function decideMarks(chunks: ReadonlyMap<LeasedChunk, ChunkUpdate>, later: readonly RecordedResult[]): void {
  const unwritten = new Map<LeasedChunk, number>();
  for (const { chunk, seq } of later) if (chunk) unwritten.set(chunk, Math.max(seq, unwritten.get(chunk) ?? 0));
  for (const [chunk, update] of chunks) {
    const markedTo = Math.min(chunk.markedTo, update.markedTo);
    update.markedTo = Math.max(markedTo, unwritten.get(chunk) ?? 0, chunk.abandonedTo ?? 0);
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

/** PostgreSQL cannot store NUL; UTF-8 text of servers arrives here as latin1 characters. */
function storable(text: string | null): string | null {
  if (text === null) return null;
  // Decoded only if every character fits in a byte: our own sentences may contain anything.
  const bytes = /^[\x00-\xff]*[\x80-\xff][\x00-\xff]*$/.test(text);
  return (bytes ? Buffer.from(text, "latin1").toString("utf8") : text.toWellFormed()).replaceAll("\0", "");
}

const statusOf = ({ outcome }: { outcome: Outcome }): number =>
  SENT_EMAIL_STATUS[outcome.status === "deferred" ? "queued" : outcome.status];

/** A try counts when it is made; the claim of an individually claimed recipient has already counted it. */
function triesMade({ chunk, outcome }: RecordedResult): number {
  const untried = outcome.status === "queued" || outcome.status === "suppressed";
  if (chunk) return untried ? 0 : 1;
  return untried ? -1 : 0;
}

/** An array literal of values that need no quotes: numbers and ids. pg would quote and escape each of them. */
const plainArray = (values: readonly (number | string | null)[]): string =>
  `{${values.map((value) => value ?? "NULL").join(",")}}`;

/** Columns common to emails and copies. */
const outcomeColumns = (results: readonly RecordedResult[]): unknown[] => [
  plainArray(results.map(({ attempts }) => attempts)),
  plainArray(results.map(statusOf)),
  plainArray(results.map(triesMade)),
  plainArray(results.map(({ delayMs }) => delayMs)),
  results.map(({ outcome }) => storable(outcome.error)),
  results.map(({ outcome }) => storable(outcome.reply?.text ?? null)),
];

export function resultColumns(results: readonly RecordedResult[]): unknown[] {
  return [
    plainArray(results.map((_, n) => n)),
    plainArray(results.map(({ companyId }) => companyId)),
    plainArray(results.map(({ campaignId }) => campaignId)),
    plainArray(results.map(({ chunk }) => chunk?.no ?? null)),
    plainArray(results.map(({ seq }) => seq)),
    ...outcomeColumns(results),
  ];
}

/** Columns of the results of emails. */
export function mailColumns(results: readonly RecordedResult[]): unknown[] {
  return [
    plainArray(results.map(({ mail }) => mail.campaignNo)),
    plainArray(results.map(({ mail }) => mail.id)),
    results.map(({ mail }) => mail.email),
    results.map(({ mail }) => mail.messageId),
  ];
}

/** Refusals with an equal text in a row. */
interface Run {
  text: string | null;
  count: number;
  /** Reply to the last of them. */
  quote: string | null;
}

/**
 * Updates a campaign's run of equal refusals with results in order. An accepted email, or another text, ends a run;
 * results that do not concern the server (deferred, dead mailbox) change nothing.
 */
interface Refusals {
  companyId: string;
  /** Continues the stored run; empty if the first relevant result is an accepted email. */
  head: Run;
  ended: boolean;
  /** The last run after the head, or one long enough to stop the campaign. */
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

/** Equal refusals in a row, per campaign. */
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

/** Copies of these emails, by mail number. */
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

/** Results of individually claimed copies. */
export const copyResultColumns = (results: readonly RecordedResult[]): unknown[] => [
  plainArray(results.map(({ companyId }) => companyId)),
  plainArray(results.map(({ campaignId }) => campaignId)),
  plainArray(results.map(({ seq }) => seq)),
  plainArray(results.map(({ copyNo }) => copyNo)),
  ...outcomeColumns(results),
];
