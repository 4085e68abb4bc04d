/**
 * Results and marks on their way into the database: gathered, written asynchronously, one flush in the air, the next one
 * takes what has come together meanwhile. A flush that fails is repeated until it succeeds: nothing is forgotten while
 * PostgreSQL is away, and nothing new is handed over, because marks come back with the flush.
 */
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { PinnedConnection } from "../../../models/database/pinned-connection.ts";
import { RECORD, RECORD_BOUNCES } from "../../../models/statements/record-outcomes.ts";
import type { Outcome } from "./outcome.ts";
import { bouncesOf, campaignColumns, laneColumns, resultColumns } from "./record-columns.ts";
import type { ChunkLease } from "./rows.ts";

/** A chunk's lease as the recorder sees it. */
export interface LeasedChunk extends ChunkLease {
  companyId: string;
  campaignId: string;
  /** The last seq that may be handed over once this has been written. Every flush that touches the chunk writes it. */
  markedTo: number;
  /** When the lease began or was renewed, by this process's monotonic clock. */
  validFrom: number;
}

export interface RecordedResult {
  companyId: string;
  campaignId: string;
  /** Null: the recipient was claimed by itself. */
  chunk: LeasedChunk | null;
  seq: number;
  /** Of the claim: the fence where there is no chunk. */
  attempts: number;
  outcome: Outcome;
  /** Deferred: until the next try. Queued and claimed by itself: 0. */
  delayMs: number | null;
  /** Told how many of its results were written: they go back to the budget. */
  by: { recorded(n: number): void };
}

export interface FlushReport {
  /** Leases that are no longer ours. */
  lost: readonly LeasedChunk[];
  /** Campaigns that an error stopped, whoever set it. */
  stopped: readonly (readonly [campaignId: string, error: string])[];
  /** Companies with webhooks to deliver. */
  webhookCompanyIds: readonly string[];
}

const RETRY_PAUSE_MS = 250;
const MAX_ROWS = 1_000;
// Results wait this long for company: a statement costs about as much for one as for thirty.
const GATHER_MS = 5;

export interface Waiting {
  done: boolean;
  resolve: ((held: boolean) => void)[];
}

export class Recorder {
  #line: PinnedConnection;
  #owner: string;
  #leaseMs: number;
  #enough: number;
  #report: (flushed: FlushReport) => void;
  #trouble: (error: Error | null) => void;
  #results: RecordedResult[] = [];
  #lanes = new Map<LeasedChunk, Waiting>();
  #urgent = false;
  #flushing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  flushes = 0;

  constructor(options: {
    line: PinnedConnection;
    owner: string;
    leaseMs: number;
    /** So many results are a group worth a statement. */
    enough: number;
    report: (flushed: FlushReport) => void;
    /** Told when a flush fails, and null when one succeeds again. */
    trouble: (error: Error | null) => void;
  }) {
    this.#line = options.line;
    this.#owner = options.owner;
    this.#leaseMs = options.leaseMs;
    this.#enough = options.enough;
    this.#report = options.report;
    this.#trouble = options.trouble;
  }

  get pending(): number {
    return this.#results.length + this.#lanes.size;
  }

  add(result: RecordedResult): void {
    this.#results.push(result);
    if (result.chunk) this.#lane(result.chunk);
    this.#soon();
  }

  /**
   * Moves the mark (or only renews the lease). False: the lease is no longer ours, hand over nothing more. One that is not
   * urgent goes along with the next group of results.
   */
  mark(chunk: LeasedChunk, to = chunk.markedTo, urgent = true): Promise<boolean> {
    const waiting = this.#lane(chunk);
    // At once: a flush that goes out for another reason must not put an older mark in its place.
    chunk.markedTo = to;
    this.#urgent ||= urgent;
    this.#soon();
    return new Promise((resolve) => waiting.resolve.push(resolve));
  }

  /** All of the chunk is final or waits by itself: it is done with the results added before. */
  close(chunk: LeasedChunk): Promise<boolean> {
    this.#lane(chunk).done = true;
    return this.mark(chunk);
  }

  /** Resolves when all that was added is written. */
  async drain(): Promise<void> {
    while (this.pending > 0 || this.#flushing) {
      this.#urgent = true;
      this.#soon();
      await this.#flushing;
    }
  }

  #lane(chunk: LeasedChunk): Waiting {
    let waiting = this.#lanes.get(chunk);
    if (!waiting) {
      waiting = { done: false, resolve: [] };
      this.#lanes.set(chunk, waiting);
    }
    return waiting;
  }

  #soon(): void {
    if (this.#flushing) return;
    if (this.#urgent || this.#results.length >= this.#enough) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      this.#flushing = this.#flushUntilWritten();
    } else {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#urgent = true;
        this.#soon();
      }, GATHER_MS);
    }
  }

  async #flushUntilWritten(): Promise<void> {
    // One microtask, so that what is added in the same step goes along.
    await undefined;
    this.#urgent = false;
    const results = this.#results.splice(0, MAX_ROWS);
    const lanes = this.#lanes;
    this.#lanes = new Map();
    // A result left behind needs its lane again in the next flush.
    for (const { chunk } of this.#results) if (chunk) this.#lane(chunk);
    for (let failures = 0; ; failures++) {
      try {
        await this.#flush(results, lanes);
        if (failures > 0) this.#trouble(null);
        break;
      } catch (error) {
        this.#trouble(error as Error);
        await sleep(Math.min(RETRY_PAUSE_MS * 2 ** Math.min(failures, 4), 2_000));
      }
    }
    this.#flushing = undefined;
    if (this.#results.length > 0 || this.#lanes.size > 0) this.#soon();
  }

  async #flush(results: RecordedResult[], lanes: Map<LeasedChunk, Waiting>): Promise<void> {
    const bounces = bouncesOf(results);
    const values = [
      ...laneColumns(lanes, this.#owner, this.#leaseMs, this.#results),
      ...resultColumns(results),
      ...campaignColumns(results),
    ];
    const at = performance.now();
    const [row] =
      bounces.length === 0
        ? await this.#line.run<Answer>("record", RECORD, values)
        : await this.#line.run<Answer>("record-bounces", RECORD_BOUNCES, [...values, JSON.stringify(bounces)]);
    this.flushes++;
    const held = new Set((row!.lanes ?? []).map(([campaignId, no]) => `${campaignId} ${no}`));
    const lost: LeasedChunk[] = [];
    for (const [chunk, { resolve }] of lanes) {
      const ours = held.has(`${chunk.campaignId} ${chunk.no}`);
      if (ours) chunk.validFrom = at;
      else lost.push(chunk);
      for (const tell of resolve) tell(ours);
    }
    const recorded = new Map<RecordedResult["by"], number>();
    for (const { by } of results) recorded.set(by, (recorded.get(by) ?? 0) + 1);
    for (const [by, n] of recorded) by.recorded(n);
    this.#report({ lost, stopped: row!.stopped ?? [], webhookCompanyIds: row!.told ?? [] });
  }
}

interface Answer {
  lanes: [string, number][] | null;
  stopped: [string, string][] | null;
  told: string[] | null;
}
