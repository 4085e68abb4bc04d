/**
 * Writes results and marks into the database: gathered, written asynchronously, one flush in the air; the next one takes
 * what has come together meanwhile. A flush that fails because PostgreSQL is away is repeated until it succeeds: nothing
 * is forgotten, and nothing new is handed over, because marks come back with the flush.
 *
 * A flush that PostgreSQL refuses (a constraint, a value it cannot store) would be refused for ever: it is written in
 * halves until the refused result stands alone. That one is written without its events and webhooks, then also without
 * its texts, and reported. Where even that is refused, its lease is left to run out: recovery then treats the recipient as
 * in doubt, as if this sender had died with it.
 *
 * Results whose lease was lost meanwhile (the sender was frozen or cut off) are not thrown away: late-results.ts.
 */
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { isRefusal } from "../../../models/database/db.ts";
import type { PinnedConnection } from "../../../models/database/pinned-connection.ts";
import { type LateReport, NOTHING_LATE, writeLateResults, writeResultsAgain } from "./late-results.ts";
import type { Outcome } from "./outcome.ts";
import { RecentResults } from "./recent-results.ts";
import { valuesAgain } from "./record-statement.ts";
import { type ChunkUpdate, decideMarks, type LeasedChunk, type RecordedResult } from "./recorded-result.ts";
import { ReplyPatterns } from "./reply-patterns.ts";
import { ResultWriter } from "./result-writer.ts";

export interface FlushReport {
  /** Leases that are no longer ours. */
  lost: readonly LeasedChunk[];
  /** Campaigns that an error stopped, whoever set it. */
  stopped: readonly (readonly [campaignId: string, error: string])[];
  /** Campaigns of which more comes back than their company allows: to be stopped. */
  overGuard: readonly (readonly [companyId: string, campaignId: string])[];
  /** Companies with webhooks to deliver. */
  webhookCompanyIds: readonly string[];
  /** Campaigns of which results were written that came after the end of their lease. */
  lateCampaignIds: readonly string[];
}

export interface RefusedResult {
  result: RecordedResult;
  error: Error;
  /** The recipient's state was written, without its events and webhooks. False: it will end as in doubt. */
  stateStored: boolean;
}

interface Options {
  connection: PinnedConnection;
  owner: string;
  leaseMs: number;
  /** So many results are worth a statement at once. */
  groupSize: number;
  onFlushed(report: FlushReport): void;
  /** A flush failed because the database is away; null: one succeeded again. */
  onOutage(error: Error | null): void;
  onRefused(refused: RefusedResult): void;
  /** Something that was notified of a flush threw; the flush itself is written. */
  onCallbackError(error: Error): void;
}

const RETRY_PAUSE_MS = 250;
const MAX_ROWS = 1_000;
/**
 * Results wait for others: a statement costs about as much for one as for thirty, and a commit by itself a quarter of that.
 * So long, and again while more keep coming, four times at most (once where a mark waits, too): 78 go with one statement
 * instead of 30.
 */
const GATHER_MS = 5;
const GATHER_ROUNDS = 4;
/**
 * While nothing can be written for this long, nothing more is handed over: each mail would be one more that only this
 * process knows of. Long enough for a checkpoint or a failover of a pooler; PostgreSQL answers within milliseconds else.
 */
const STALLED_MS = 2_000;
const NOT_STORABLE = "The SMTP server's answer could not be stored.";

/** Refused for what it contains, and so for ever; besides values, constraints and limits also what a trigger raises. */
const isRefused = (error: unknown): boolean =>
  isRefusal(error) || /^(?:21|44|P0)/.test((error as { code?: string }).code ?? "");

type Chunks = ReadonlyMap<LeasedChunk, ChunkUpdate>;

function abandon({ chunk, seq }: RecordedResult): void {
  if (chunk) chunk.abandonedTo = Math.max(seq, chunk.abandonedTo ?? 0);
}

/** The leases that these results need, with the marks that are in the database, and nothing else about their chunks. */
const leasesOf = (results: readonly RecordedResult[]): Chunks =>
  new Map(
    results.flatMap(({ chunk }): [LeasedChunk, ChunkUpdate][] =>
      chunk ? [[chunk, { done: false, markedTo: chunk.writtenTo ?? chunk.lo - 1, resolve: [] }]] : [],
    ),
  );

function withoutTexts(result: RecordedResult): RecordedResult {
  const plain = (outcome: Outcome): Outcome => ({
    ...outcome,
    error: outcome.error === null ? null : NOT_STORABLE,
    reply: null,
  });
  const copies = result.copies.map((copy) => ({ ...copy, outcome: plain(copy.outcome) }));
  return { ...result, outcome: plain(result.outcome), copies };
}

export class Recorder {
  #options: Options;
  #results: RecordedResult[] = [];
  #chunks = new Map<LeasedChunk, ChunkUpdate>();
  #urgent = false;
  /** Somebody waits for a mark, or for a lease to be renewed. */
  #marksWait = false;
  #flushing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Since when something waits to be written, and nothing has been. */
  #waitsSince: number | undefined;
  /** In the flush that is in the air. */
  #writing: readonly RecordedResult[] = [];
  #recent = new RecentResults();
  #replies = new ReplyPatterns();
  #writer: ResultWriter;
  /** Statements that were written. */
  flushes = 0;

  constructor(options: Options) {
    this.#options = options;
    this.#writer = new ResultWriter({ ...options, replies: this.#replies });
  }

  get pending(): number {
    return this.#results.length + this.#chunks.size;
  }

  /**
   * Results that are written before, or in one statement with, any mark that is asked for from now on. Their recipients are
   * not in doubt any more when that mark is written: others may be marked in their place.
   */
  get promised(): number {
    return this.#writing.length + Math.min(MAX_ROWS, this.#results.length);
  }

  /** Nothing can be written at the moment, so nothing more may be handed over. */
  get stalled(): boolean {
    return this.#waitsSince !== undefined && performance.now() - this.#waitsSince > STALLED_MS;
  }

  /** Results that may not have been written yet. */
  get unwritten(): readonly RecordedResult[] {
    return [...this.#writing, ...this.#results];
  }

  add(result: RecordedResult): void {
    this.#results.push(result);
    if (result.chunk) this.#updateOf(result.chunk);
    this.#flushSoon();
  }

  /**
   * Moves the mark (or only renews the lease). False: the lease is no longer ours, hand over nothing more. One that is not
   * urgent goes along with the next group of results.
   */
  mark(chunk: LeasedChunk, to = chunk.markedTo, urgent = true): Promise<boolean> {
    const update = this.#updateOf(chunk);
    // At once: a flush that goes out for another reason must not write an older mark.
    chunk.markedTo = to;
    this.#urgent ||= urgent;
    this.#marksWait = true;
    this.#flushSoon();
    return new Promise((resolve) => update.resolve.push(resolve));
  }

  /** Every row of the chunk is final or waits by itself: it is done with the results added before. Nobody waits for that. */
  close(chunk: LeasedChunk): Promise<boolean> {
    this.#updateOf(chunk).done = true;
    return this.mark(chunk, chunk.markedTo, false);
  }

  /** Resolves when all that was added is written. */
  async drain(): Promise<void> {
    while (this.pending > 0 || this.#flushing) {
      this.#urgent = true;
      this.#flushSoon();
      await this.#flushing;
    }
  }

  /** The database may have lost its last transactions: what was in them is written again. Returns how many were looked at. */
  async writeAgain(): Promise<number> {
    for (const values of this.#recent.flushes()) {
      const { campaignIds, webhookCompanyIds } = await writeResultsAgain(this.#options.connection, values());
      if (campaignIds.length + webhookCompanyIds.length === 0) continue;
      const nothing = { lost: [], stopped: [], overGuard: [] };
      this.#options.onFlushed({ ...nothing, lateCampaignIds: campaignIds, webhookCompanyIds });
    }
    return this.#recent.size;
  }

  #updateOf(chunk: LeasedChunk): ChunkUpdate {
    let update = this.#chunks.get(chunk);
    if (!update) {
      update = { done: false, markedTo: chunk.markedTo, resolve: [] };
      this.#chunks.set(chunk, update);
    }
    return update;
  }

  #flushSoon(): void {
    this.#waitsSince ??= performance.now();
    if (this.#flushing) return;
    if (this.#urgent || this.#results.length >= this.#options.groupSize) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#flushing = this.#flush();
    } else if (!this.#timer) {
      this.#gather(GATHER_ROUNDS);
    }
  }

  #gather(rounds: number): void {
    const before = this.#results.length;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const left = this.#marksWait ? this.#roundsForMarks(rounds) : rounds - 1;
      if (left > 0 && this.#results.length > before) {
        this.#gather(left);
      } else {
        this.#urgent = true;
        this.#flushSoon();
      }
    }, GATHER_MS);
  }

  /** A mark that came while few results were there waits for another round of them. */
  #roundsForMarks(rounds: number): number {
    return this.#results.length < this.#options.groupSize / 2 ? Math.min(1, rounds - 1) : 0;
  }

  async #flush(): Promise<void> {
    // One microtask, so that what is added in the same step goes along.
    await undefined;
    this.#urgent = false;
    this.#marksWait = false;
    const results = this.#results.splice(0, MAX_ROWS);
    const chunks = this.#chunks;
    this.#chunks = new Map();
    // A result left behind needs its chunk again in the next flush.
    for (const { chunk } of this.#results) if (chunk) this.#updateOf(chunk);
    for (const [chunk, update] of chunks) update.markedTo = chunk.markedTo;
    this.#writing = results;
    const report = await this.#write(results, chunks);
    this.#writing = [];
    this.#waitsSince = this.pending > 0 ? performance.now() : undefined;
    this.#notify(results, chunks, report);
    // What is not learnt now is learnt with the next reply of its kind.
    await this.#replies.learn(this.#options.connection).catch(() => {});
    this.#flushing = undefined;
    if (this.pending > 0) this.#flushSoon();
  }

  /** Resolves when it is written, however long that takes. `later`: results of the same flush that another part writes. */
  async #write(results: RecordedResult[], chunks: Chunks, later: RecordedResult[] = []): Promise<FlushReport> {
    for (let failures = 0; ; failures++) {
      try {
        const report = await this.#run(results, chunks, later);
        if (failures > 0) this.#options.onOutage(null);
        return report;
      } catch (error) {
        if (results.length > 0 && isRefused(error)) return this.#writeInParts(results, chunks, later, error as Error);
        await this.#pause(failures, error as Error);
      }
    }
  }

  async #writeInParts(results: RecordedResult[], chunks: Chunks, later: RecordedResult[], error: Error) {
    const reports: FlushReport[] = [];
    if (results.length === 1) {
      await this.#writeRefused(results[0]!, later, error);
    } else {
      const half = results.length >> 1;
      const [first, second] = [results.slice(0, half), results.slice(half)];
      reports.push(await this.#write(first, leasesOf(first), [...second, ...later]));
      reports.push(await this.#write(second, leasesOf(second), later));
    }
    const last = await this.#write([], chunks, later);
    reports.push(last);
    return {
      lost: last.lost,
      stopped: reports.flatMap(({ stopped }) => stopped),
      overGuard: reports.flatMap(({ overGuard }) => overGuard),
      webhookCompanyIds: reports.flatMap(({ webhookCompanyIds }) => webhookCompanyIds),
      lateCampaignIds: reports.flatMap(({ lateCampaignIds }) => lateCampaignIds),
    };
  }

  /** Its row alone; then without the texts that came from outside; then its lease is left to run out. */
  async #writeRefused(result: RecordedResult, later: RecordedResult[], error: Error): Promise<void> {
    const attempts = [result, withoutTexts(result)];
    for (let failures = 0; attempts.length > 0; ) {
      try {
        await this.#run([attempts[0]!], leasesOf([result]), later, true);
        this.#options.onRefused({ result, error, stateStored: true });
        return;
      } catch (failure) {
        if (isRefused(failure)) attempts.shift();
        else await this.#pause(failures++, failure as Error);
      }
    }
    abandon(result);
    this.#options.onRefused({ result, error, stateStored: false });
  }

  async #pause(failures: number, error: Error): Promise<void> {
    this.#options.onOutage(error);
    await sleep(Math.min(RETRY_PAUSE_MS * 2 ** Math.min(failures, 4), 2_000));
  }

  async #run(
    results: RecordedResult[],
    chunks: Chunks,
    later: RecordedResult[],
    rowOnly = false,
  ): Promise<FlushReport> {
    const at = performance.now();
    decideMarks(chunks, [...later, ...this.#results]);
    const answer = await this.#writer.write({ results, chunks, rowOnly });
    const { leases, stopped, over_guard, webhook_company_ids, written } = answer;
    this.flushes++;
    this.#recent.add(results.length, () => valuesAgain(results));
    const held = new Set((leases ?? []).map(([campaignId, no]) => `${campaignId} ${no}`));
    const lost: LeasedChunk[] = [];
    for (const [chunk, { markedTo }] of chunks) {
      if (held.has(`${chunk.campaignId} ${chunk.no}`)) {
        chunk.validFrom = at;
        chunk.writtenTo = markedTo;
      } else {
        lost.push(chunk);
      }
    }
    const late = written < results.length ? await this.#writeLate(results, lost) : NOTHING_LATE;
    return {
      lost,
      stopped: stopped ?? [],
      overGuard: over_guard ?? [],
      webhookCompanyIds: [...(webhook_company_ids ?? []), ...late.webhookCompanyIds],
      lateCampaignIds: late.campaignIds,
    };
  }

  /** Of chunks that are lost, and of recipients claimed by themselves, of which nobody says whether they are. */
  async #writeLate(results: readonly RecordedResult[], lost: readonly LeasedChunk[]): Promise<LateReport> {
    const late = results.filter(({ chunk }) => !chunk || lost.includes(chunk));
    if (late.length === 0) return NOTHING_LATE;
    try {
      return await writeLateResults(this.#options.connection, late);
    } catch (error) {
      if (!isRefused(error)) throw error;
      for (const result of late) {
        abandon(result);
        this.#options.onRefused({ result, error: error as Error, stateStored: false });
      }
      return NOTHING_LATE;
    }
  }

  /** It is committed: an error of those who are notified must neither repeat it nor keep it from the others. */
  #notify(results: RecordedResult[], chunks: Chunks, report: FlushReport): void {
    const lost = new Set(report.lost);
    for (const [chunk, { resolve }] of chunks) for (const notify of resolve) notify(!lost.has(chunk));
    const recorded = new Map<RecordedResult["by"], number>();
    for (const { by } of results) recorded.set(by, (recorded.get(by) ?? 0) + 1);
    for (const [by, n] of recorded) this.#guarded(() => by.recorded(n));
    this.#guarded(() => this.#options.onFlushed(report));
  }

  #guarded(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.#options.onCallbackError(error as Error);
    }
  }
}
