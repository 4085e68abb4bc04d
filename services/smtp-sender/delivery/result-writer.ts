/**
 * Writes a group of results, with the leases and marks of their chunks, in one statement (record-statement.ts). During
 * a database outage it retries until the write succeeds, so nothing is lost.
 *
 * A group that PostgreSQL refuses (constraint, unstorable value) is split in halves until the refused result is
 * isolated. That result is written without its events and webhooks, then also without its texts, and reported. If even
 * that is refused, its lease is left to expire, and recovery treats the recipient as in doubt, as if this sender had
 * died.
 *
 * Results whose lease was lost before they were written (the sender was frozen or cut off) are handled by
 * late-results.ts.
 */
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { isRefusal } from "../../../models/database/db.ts";
import type { PinnedConnection } from "../engine/pinned-connection.ts";
import { type LateReport, NOTHING_LATE, RecentResults, writeLateResults, writeResultsAgain } from "./late-results.ts";
import type { Outcome } from "./outcome.ts";
import { recordStatement, rewriteValues } from "./record-statement.ts";
import { type ChunkUpdate, decideMarks, type LeasedChunk, type RecordedResult } from "./recorded-result.ts";

interface Writer {
  connection: PinnedConnection;
  owner: string;
  leaseMs: number;
  /** Reason why nothing can be written (database outage); null: it works again. */
  onOutage(error: Error | null): void;
}

interface Group {
  results: readonly RecordedResult[];
  chunks: ReadonlyMap<LeasedChunk, ChunkUpdate>;
  /** Updates only the row, without events and webhooks. */
  rowOnly: boolean;
}

export interface Answer {
  /** Leases still held. */
  leases: [campaignId: string, no: number][] | null;
  stopped: [campaignId: string, error: string][] | null;
  over_guard: [companyId: string, campaignId: string][] | null;
  webhook_company_ids: string[] | null;
  /** Number of results written; the others were fenced off. */
  written: number;
}

export interface RefusedResult {
  result: RecordedResult;
  error: Error;
  /** True: the recipient's state was written without its events and webhooks. False: it will end in doubt. */
  stateStored: boolean;
}

/** Effects of a flush. */
export interface FlushReport {
  /** Lost leases. */
  lost: readonly LeasedChunk[];
  /** Campaigns stopped by an error, from this or another node. */
  stopped: readonly (readonly [campaignId: string, error: string])[];
  /** Campaigns to stop: they exceed their company's limit of bounces and complaints. */
  overGuard: readonly (readonly [companyId: string, campaignId: string])[];
  /** Companies with webhooks to deliver. */
  webhookCompanyIds: readonly string[];
  /** Campaigns with results written after the end of their lease. */
  lateCampaignIds: readonly string[];
  /** Results that PostgreSQL refused in full form. */
  refused: readonly RefusedResult[];
}

type Chunks = ReadonlyMap<LeasedChunk, ChunkUpdate>;

const NOTHING: FlushReport = {
  lost: [],
  stopped: [],
  overGuard: [],
  webhookCompanyIds: [],
  lateCampaignIds: [],
  refused: [],
};

const RETRY_PAUSE_MS = 250;
const MAX_RETRY_PAUSE_MS = 2_000;
const NOT_STORABLE = "The SMTP server's answer could not be stored.";

/** SQLSTATE classes of permanent refusals: invalid values, constraints, limits, and errors raised by triggers. */
const isRefused = (error: unknown): boolean =>
  isRefusal(error) || /^(?:21|44|P0)/.test((error as { code?: string }).code ?? "");

function abandon({ chunk, seq }: RecordedResult): void {
  if (chunk) chunk.abandonedTo = Math.max(seq, chunk.abandonedTo ?? 0);
}

/** The leases these results need, with their stored marks and no other changes to their chunks. */
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

/** The last part writes the leases again, because it knows which are lost. */
const together = (parts: readonly FlushReport[]): FlushReport => ({
  lost: parts.at(-1)!.lost,
  stopped: parts.flatMap(({ stopped }) => stopped),
  overGuard: parts.flatMap(({ overGuard }) => overGuard),
  webhookCompanyIds: parts.flatMap(({ webhookCompanyIds }) => webhookCompanyIds),
  lateCampaignIds: parts.flatMap(({ lateCampaignIds }) => lateCampaignIds),
  refused: parts.flatMap(({ refused }) => refused),
});

export class ResultWriter {
  readonly #writer: Writer;
  readonly #recent = new RecentResults();

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /**
   * Resolves when the group is written, however long that takes. `later`: results that this group does not write,
   * because another part of the flush does or they arrived later.
   */
  async flush(results: readonly RecordedResult[], chunks: Chunks, later: () => RecordedResult[]): Promise<FlushReport> {
    for (let failures = 0; ; failures++) {
      try {
        const report = await this.#flushOnce({ results, chunks, rowOnly: false }, later());
        if (failures > 0) this.#writer.onOutage(null);
        return report;
      } catch (error) {
        if (results.length > 0 && isRefused(error)) return this.#flushInParts(results, chunks, later, error as Error);
        await this.#pause(failures, error as Error);
      }
    }
  }

  async #flushInParts(
    results: readonly RecordedResult[],
    chunks: Chunks,
    later: () => RecordedResult[],
    error: Error,
  ): Promise<FlushReport> {
    const parts: FlushReport[] = [];
    if (results.length === 1) {
      parts.push({ ...NOTHING, refused: [await this.#flushRefused(results[0]!, later, error)] });
    } else {
      const half = results.length >> 1;
      const [first, second] = [results.slice(0, half), results.slice(half)];
      parts.push(await this.flush(first, leasesOf(first), () => [...second, ...later()]));
      parts.push(await this.flush(second, leasesOf(second), later));
    }
    parts.push(await this.flush([], chunks, later));
    return together(parts);
  }

  /** Tries the row alone, then without external texts, then lets its lease expire. */
  async #flushRefused(result: RecordedResult, later: () => RecordedResult[], error: Error): Promise<RefusedResult> {
    const attempts = [result, withoutTexts(result)];
    for (let failures = 0; attempts.length > 0; ) {
      try {
        await this.#flushOnce({ results: [attempts[0]!], chunks: leasesOf([result]), rowOnly: true }, later());
        return { result, error, stateStored: true };
      } catch (failure) {
        if (isRefused(failure)) attempts.shift();
        else await this.#pause(failures++, failure as Error);
      }
    }
    abandon(result);
    return { result, error, stateStored: false };
  }

  async #pause(failures: number, error: Error): Promise<void> {
    this.#writer.onOutage(error);
    await sleep(Math.min(RETRY_PAUSE_MS * 2 ** Math.min(failures, 4), MAX_RETRY_PAUSE_MS));
  }

  async #flushOnce(group: Group, later: readonly RecordedResult[]): Promise<FlushReport> {
    const { results, chunks, rowOnly } = group;
    const { connection, owner, leaseMs } = this.#writer;
    const at = performance.now();
    decideMarks(chunks, later);
    const { name, text, values } = recordStatement(results, chunks, { owner, leaseMs, rowOnly });
    const [answer] = await connection.run<Answer>(name, text, values);
    const { leases, stopped, over_guard, webhook_company_ids, written } = answer!;
    this.#recent.add(results.length, () => rewriteValues(results));
    const heldLeases = new Set((leases ?? []).map(([campaignId, no]) => `${campaignId} ${no}`));
    const lost: LeasedChunk[] = [];
    for (const [chunk, { markedTo }] of chunks) {
      if (heldLeases.has(`${chunk.campaignId} ${chunk.no}`)) {
        chunk.validFrom = at;
        chunk.writtenTo = markedTo;
      } else {
        lost.push(chunk);
      }
    }
    const late = written < results.length ? await this.#writeLate(results, lost) : { ...NOTHING_LATE, refused: [] };
    return {
      lost,
      stopped: stopped ?? [],
      overGuard: over_guard ?? [],
      webhookCompanyIds: [...(webhook_company_ids ?? []), ...late.webhookCompanyIds],
      lateCampaignIds: late.campaignIds,
      refused: late.refused,
    };
  }

  /** Writes results of lost chunks and of individually claimed recipients, whose leases the answer does not name. */
  async #writeLate(
    results: readonly RecordedResult[],
    lost: readonly LeasedChunk[],
  ): Promise<LateReport & Pick<FlushReport, "refused">> {
    const late = results.filter(({ chunk }) => !chunk || lost.includes(chunk));
    if (late.length === 0) return { ...NOTHING_LATE, refused: [] };
    try {
      return { ...(await writeLateResults(this.#writer.connection, late)), refused: [] };
    } catch (error) {
      if (!isRefused(error)) throw error;
      for (const result of late) abandon(result);
      const refused = late.map((result) => ({ result, error: error as Error, stateStored: false }));
      return { ...NOTHING_LATE, refused };
    }
  }

  /**
   * Rewrites results that the database may have lost. `looked`: number of results checked; the reports describe what
   * was written.
   */
  async writeAgain(): Promise<{ looked: number; reports: FlushReport[] }> {
    const reports: FlushReport[] = [];
    for (const values of this.#recent.flushes()) {
      const { campaignIds, webhookCompanyIds } = await writeResultsAgain(this.#writer.connection, values());
      if (campaignIds.length + webhookCompanyIds.length === 0) continue;
      reports.push({ ...NOTHING, lateCampaignIds: campaignIds, webhookCompanyIds });
    }
    return { looked: this.#recent.size, reports };
  }
}
