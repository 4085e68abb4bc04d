/**
 * Writes results without a lease: those whose lease was lost before they could be written, and those of the last minute
 * after the database has lost its last transactions (models/statements/record-late-outcomes.ts).
 */
import { performance } from "node:perf_hooks";
import { query } from "../../../models/database/db.ts";
import { RECORD_AGAIN, RECORD_LATE, REQUEUE_UNSENT } from "../../../models/statements/record-late-outcomes.ts";
import type { PinnedConnection } from "../engine/pinned-connection.ts";
import { lateValues } from "./record-statement.ts";
import type { LeasedChunk, RecordedResult } from "./recorded-result.ts";

export interface LateReport {
  /** Campaigns whose counts changed and that may be complete now. */
  campaignIds: readonly string[];
  webhookCompanyIds: readonly string[];
}

export const NOTHING_LATE: LateReport = { campaignIds: [], webhookCompanyIds: [] };

interface Answer {
  campaign_ids: string[] | null;
  webhook_company_ids: string[] | null;
}

async function write(connection: PinnedConnection, name: string, text: string, values: unknown[]): Promise<LateReport> {
  const [answer] = await connection.run<Answer>(name, text, values);
  return { campaignIds: answer!.campaign_ids ?? [], webhookCompanyIds: answer!.webhook_company_ids ?? [] };
}

/** Writes results of recipients that no other sender has settled since. */
export const writeLateResults = (connection: PinnedConnection, results: readonly RecordedResult[]) =>
  write(connection, "record-late", RECORD_LATE, lateValues(results));

/** Rewrites results of lost transactions (RecentResults) if their rows are as they were before. */
export const writeResultsAgain = (connection: PinnedConnection, values: unknown[]) =>
  write(connection, "record-again", RECORD_AGAIN, values);

/**
 * Called when all results of the lost lease are written: recipients still in doubt were not sent. Returns how many are
 * queued again.
 */
export async function requeueUnsent({ companyId, campaignId, no, fence }: LeasedChunk): Promise<number> {
  const rows = await query<{ queued: number }>(REQUEUE_UNSENT, [companyId, campaignId, no, fence]);
  return rows[0]!.queued;
}

const KEPT_MS = 60_000;
const MAX_RESULTS = 20_000;

interface Flush {
  atMs: number;
  n: number;
  values(): unknown[];
}

/**
 * Keeps the results written within the last minute, to rewrite them after a failover (engine/database-history.ts).
 * Keeps them as objects, about 350 bytes each and 7 MB at most, and builds the statement's columns only when needed. A
 * replica is behind by less than ten seconds, which is what fits at 2,000 emails per second.
 */
export class RecentResults {
  #flushes: Flush[] = [];
  #size = 0;
  #now: () => number;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** `n`: number of results; the function returns the values of the statement that rewrites them. */
  add(n: number, values: () => unknown[]): void {
    const atMs = this.#now();
    if (n > 0) this.#flushes.push({ atMs, n, values });
    this.#size += n;
    let old = 0;
    for (const flush of this.#flushes) {
      if (this.#size <= MAX_RESULTS && atMs - flush.atMs < KEPT_MS) break;
      this.#size -= flush.n;
      old++;
    }
    if (old > 0) this.#flushes.splice(0, old);
  }

  get size(): number {
    return this.#size;
  }

  /** Oldest first, in writing order. */
  flushes(): (() => unknown[])[] {
    return this.#flushes.map(({ values }) => values);
  }
}
