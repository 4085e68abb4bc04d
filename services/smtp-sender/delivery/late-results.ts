/**
 * Results without a lease: of recipients whose lease was lost before they could be written, and of the last minute, which are
 * written again where the database has lost its last transactions (models/statements/record-late-outcomes.ts).
 */
import { performance } from "node:perf_hooks";
import { query } from "../../../models/database/db.ts";
import { RECORD_AGAIN, RECORD_LATE, REQUEUE_UNSENT } from "../../../models/statements/record-late-outcomes.ts";
import type { PinnedConnection } from "../engine/pinned-connection.ts";
import { lateValues } from "./record-statement.ts";
import type { LeasedChunk, RecordedResult } from "./recorded-result.ts";

export interface LateReport {
  /** Campaigns whose counts have changed: they may be complete now. */
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

/** Writes results whose recipients no other sender has settled since. */
export const writeLateResults = (connection: PinnedConnection, results: readonly RecordedResult[]) =>
  write(connection, "record-late", RECORD_LATE, lateValues(results));

/** Writes results of a lost transaction (RecentResults) where their rows are as they were before it. */
export const writeResultsAgain = (connection: PinnedConnection, values: unknown[]) =>
  write(connection, "record-again", RECORD_AGAIN, values);

/** Every result of the lost lease has been written: who is in doubt by it has not left. Returns how many are queued again. */
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
 * Results that were written within the last minute, to be written again after a failover (engine/database-history.ts). Kept
 * as they are, some 350 bytes each, so 7 MB at most; columns of statements are made of them only then. Replicas are behind by
 * less than the ten seconds that a node keeps which sends 2,000 mails a second.
 */
export class RecentResults {
  #flushes: Flush[] = [];
  #size = 0;
  #now: () => number;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** `n` results, and the values of the statement that writes them again. */
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

  /** Oldest first, as they were written. */
  flushes(): (() => unknown[])[] {
    return this.#flushes.map(({ values }) => values);
  }
}
