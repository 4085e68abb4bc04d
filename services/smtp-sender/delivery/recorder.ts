/**
 * Gathers results and marks, and has them written asynchronously (result-writer.ts), one flush at a time; the next one takes
 * what has come together since. While PostgreSQL is away a flush lasts: nothing is forgotten, and nothing new is handed
 * over, because marks come back with the flush.
 */
import { performance } from "node:perf_hooks";
import type { PinnedConnection } from "../engine/pinned-connection.ts";
import type { ChunkUpdate, LeasedChunk, RecordedResult } from "./recorded-result.ts";
import { type FlushReport, ResultWriter } from "./result-writer.ts";

interface Options {
  connection: PinnedConnection;
  owner: string;
  leaseMs: number;
  /** This many results are written at once. */
  groupSize: number;
  log: { error(text: string, data?: object): void };
  onFlushed(report: FlushReport): void;
  /** A flush failed because the database is away; null: one succeeded again. */
  onOutage(error: Error | null): void;
}

const MAX_ROWS = 1_000;
/**
 * Results wait for others: a statement costs about as much for one as for thirty, and a commit by itself a quarter of that.
 * So long, and again while more keep coming, four times at most (once where a mark waits, too).
 */
const GATHER_MS = 5;
const GATHER_ROUNDS = 4;
/**
 * While nothing can be written for this long, nothing more is handed over: each mail would be one more that only this
 * process knows of. Long enough for a checkpoint or a failover of a pooler; PostgreSQL answers within milliseconds else.
 */
const STALLED_MS = 2_000;

type Chunks = ReadonlyMap<LeasedChunk, ChunkUpdate>;

export class Recorder {
  readonly #options: Options;
  readonly #writer: ResultWriter;
  #results: RecordedResult[] = [];
  #chunks = new Map<LeasedChunk, ChunkUpdate>();
  #urgent = false;
  /** Somebody waits for a mark, or for a lease to be renewed. */
  #marksWait = false;
  #flushing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Since when something waits to be written, and nothing has been. */
  #waitsSince: number | undefined;
  /** In the flush that is under way. */
  #writing: readonly RecordedResult[] = [];

  constructor(options: Options) {
    this.#options = options;
    this.#writer = new ResultWriter(options);
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
    const report = await this.#writer.flush(results, chunks, () => this.#results);
    this.#writing = [];
    this.#waitsSince = this.pending > 0 ? performance.now() : undefined;
    this.#notify(results, chunks, report);
    this.#flushing = undefined;
    if (this.pending > 0) this.#flushSoon();
  }

  /** It is committed: an error of those who are notified must neither repeat it nor keep it from the others. */
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
      this.#options.log.error("after results were recorded", { error: (error as Error).stack });
    }
  }
}
