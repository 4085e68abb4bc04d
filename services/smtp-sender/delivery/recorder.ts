/**
 * Gathers results and marks and writes them asynchronously (result-writer.ts), one flush at a time; the next flush
 * takes everything added since. During a database outage the flush keeps retrying: nothing is lost, and nothing new is
 * handed over, because marks are granted by flushes.
 */
import { performance } from "node:perf_hooks";
import type { PinnedConnection } from "../engine/pinned-connection.ts";
import type { ChunkUpdate, LeasedChunk, RecordedResult } from "./recorded-result.ts";
import { type FlushReport, ResultWriter } from "./result-writer.ts";

interface Options {
  connection: PinnedConnection;
  owner: string;
  leaseMs: number;
  /** Number of results that triggers an immediate flush. */
  groupSize: number;
  log: { error(text: string, data?: object): void };
  onFlushed(report: FlushReport): void;
  /** Called when a flush fails because the database is unavailable, and with null when one succeeds again. */
  onOutage(error: Error | null): void;
}

const MAX_ROWS = 1_000;
/**
 * Time to wait for further results, repeated up to four times while more arrive (once if a mark waits): one statement
 * for many results costs little more than for one.
 */
const GATHER_MS = 5;
const GATHER_ROUNDS = 4;
/**
 * If nothing could be written for this long, nothing more is handed over, because only this process would know of it.
 * Longer than a checkpoint or a pooler's failover; PostgreSQL normally answers within milliseconds.
 */
const STALLED_MS = 2_000;

type Chunks = ReadonlyMap<LeasedChunk, ChunkUpdate>;

export class Recorder {
  readonly #options: Options;
  readonly #writer: ResultWriter;
  #results: RecordedResult[] = [];
  #chunks = new Map<LeasedChunk, ChunkUpdate>();
  #urgent = false;
  /** A mark or a lease renewal is waited for. */
  #marksWait = false;
  #flushing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Start of the time in which results waited and nothing was written. */
  #waitsSince: number | undefined;
  /** Results in the current flush. */
  #writing: readonly RecordedResult[] = [];

  constructor(options: Options) {
    this.#options = options;
    this.#writer = new ResultWriter(options);
  }

  get pending(): number {
    return this.#results.length + this.#chunks.size;
  }

  /**
   * Results that are written no later than any mark requested from now on. Their recipients are no longer in doubt when
   * that mark is written, so others may use their budget.
   */
  get promised(): number {
    return this.#writing.length + Math.min(MAX_ROWS, this.#results.length);
  }

  /** True while nothing can be written, so nothing more may be handed over. */
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
   * Moves the mark, or only renews the lease. False: the lease is lost; hand over nothing more. A call that is not
   * urgent waits for the next group of results.
   */
  mark(chunk: LeasedChunk, to = chunk.markedTo, urgent = true): Promise<boolean> {
    const update = this.#updateOf(chunk);
    // Set at once: another flush must not write an older mark.
    chunk.markedTo = to;
    this.#urgent ||= urgent;
    this.#marksWait = true;
    this.#flushSoon();
    return new Promise((resolve) => update.resolve.push(resolve));
  }

  /** Completes the chunk: every row is final or waits individually. Does not wait for the write. */
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

  /** Rewrites recent results that the database may have lost. Returns how many were checked. */
  async writeAgain(): Promise<number> {
    const { looked, reports } = await this.#writer.writeAgain();
    for (const report of reports) this.#options.onFlushed(report);
    return looked;
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
      const roundsLeft = this.#marksWait ? this.#roundsForMarks(rounds) : rounds - 1;
      if (roundsLeft > 0 && this.#results.length > before) {
        this.#gather(roundsLeft);
      } else {
        this.#urgent = true;
        this.#flushSoon();
      }
    }, GATHER_MS);
  }

  /** A mark requested while few results are present waits one more round. */
  #roundsForMarks(rounds: number): number {
    return this.#results.length < this.#options.groupSize / 2 ? Math.min(1, rounds - 1) : 0;
  }

  async #flush(): Promise<void> {
    // Waits one microtask to include everything added in the same step.
    await undefined;
    this.#urgent = false;
    this.#marksWait = false;
    const results = this.#results.splice(0, MAX_ROWS);
    const chunks = this.#chunks;
    this.#chunks = new Map();
    // A remaining result needs its chunk again in the next flush.
    for (const { chunk } of this.#results) if (chunk) this.#updateOf(chunk);
    for (const [chunk, update] of chunks) update.markedTo = chunk.markedTo;
    this.#writing = results;
    const report = await this.#writer.flush(results, chunks, () => this.#results);
    this.#writing = [];
    this.#waitsSince = this.pending > 0 ? performance.now() : undefined;
    this.#notify(results, chunks, report);
    this.#flushing = undefined;
    if (this.pending > 0) this.#flushSoon();
  }

  /** The results are committed: an error in one callback must neither repeat the write nor skip the other callbacks. */
  #notify(results: RecordedResult[], chunks: Chunks, report: FlushReport): void {
    const lost = new Set(report.lost);
    for (const [chunk, { resolve }] of chunks) for (const notify of resolve) notify(!lost.has(chunk));
    const recorded = Map.groupBy(results, ({ by }) => by);
    for (const [by, own] of recorded) this.#guarded(() => by.recorded(own));
    this.#guarded(() => this.#options.onFlushed(report));
  }

  #guarded(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.#options.log.error("callback failed after results were recorded", { error: (error as Error).stack });
    }
  }
}
