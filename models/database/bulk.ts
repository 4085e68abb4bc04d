/**
 * Concurrency limits for statements over many rows. They run on connections of their own, and wait before they take
 * one: however many of them a company starts, the requests of others find connections, and their statements over many
 * rows are served in between.
 *
 * | work                                      | at once in a process   | of one company | a statement takes at most |
 * |-------------------------------------------|------------------------|----------------|---------------------------|
 * | imports                                   | a third of bulk        | 1              | 14 minutes                |
 * | imports of small files                    | another third          | 1              | 14 minutes                |
 * | segments                                  | a third, with exports  | 1              | 5 s                       |
 * | searched, filtered and sorted lists       | the same               | 1              | 15 s, 2 s for the count   |
 * | exports, page by page                     | a third, with reads    | 1              | 30 s                      |
 * | expansion of campaigns                    | what the others leave  | half           | 60 s                      |
 * | recipients of stopped campaigns that fail | a third                | 1              | 60 s                      |
 * | changes of thousands of rows by a request | a third as many of sql | 1              | 60 s                      |
 * | newsletters that are begun                | as sql allows          | 1              | 60 s                      |
 */
import type pg from "pg";
import { ConcurrencyLimit } from "../../services/lib/concurrency-limit.ts";
import { isServiceError } from "../../services/lib/errors.ts";
import { bulkPool, type Client, INTERACTIVE, transaction } from "./db.ts";
import { isQueryCanceled } from "./outage.ts";
import type { Settings } from "./session-settings.ts";
import { thirdOf } from "./shares.ts";

/** Maximum per statement of an interactive read. */
const MAX_READ_MS = 5_000;
const MAX_EXPORT_MS = 30_000;

/** A statement that may take seconds uses one core, not all. */
const costly = (statementMs: number): Settings => ({
  statement_timeout: statementMs,
  max_parallel_workers_per_gather: 0,
});

interface Limits {
  imports: ConcurrencyLimit;
  smallImports: ConcurrencyLimit;
  reads: ConcurrencyLimit;
  writes: ConcurrencyLimit;
  newsletters: ConcurrencyLimit;
  ends: ConcurrencyLimit;
}

const limitsOf = new WeakMap<pg.Pool, Limits>();

function limits(): Limits {
  const pool = bulkPool();
  const cached = limitsOf.get(pool);
  if (cached) return cached;
  const limit = (total = thirdOf(pool.options.max)) => new ConcurrencyLimit({ total, perCompany: 1 });
  const limits = {
    imports: limit(),
    smallImports: limit(),
    reads: limit(),
    writes: limit(),
    newsletters: limit(Number.POSITIVE_INFINITY),
    ends: limit(),
  };
  limitsOf.set(pool, limits);
  return limits;
}

type Work<T> = (client: Client) => Promise<T>;

const onBulk = <T>(owner: string | undefined, work: Work<T>, settings?: Settings) =>
  transaction(work, { from: bulkPool(), owner, settings });

interface ReadLimits {
  /** Time-out of each statement. */
  statementMs?: number;
  /** Maximum wait for other reads of the company; a request may have less time left. */
  waitMs?: number;
}

/** A transaction that only reads, for an answer that somebody waits for. */
export const costlyRead = <T>(
  companyId: string,
  work: Work<T>,
  { statementMs = MAX_READ_MS, waitMs = Number.POSITIVE_INFINITY }: ReadLimits = {},
): Promise<T> =>
  limits().reads.run(companyId, () => onBulk(companyId, work, costly(statementMs)), { atMostMs: waitMs });

/** Returns whether the work waited too long for its concurrency limit. */
export const waitedTooLong = (error: unknown): boolean => isServiceError(error, "THROTTLED");

/** A costly read that its caller can do without took too long, or waited for too long. */
export const isTooCostly = (error: unknown): boolean => isQueryCanceled(error) || waitedTooLong(error);

const EXPORT: Settings = costly(MAX_EXPORT_MS);

/** Reads one page of an export; other work runs between two pages. */
export const exportRead = <T>(companyId: string, work: Work<T>, settings: Settings = {}): Promise<T> =>
  limits().reads.run(companyId, () => onBulk(companyId, work, { ...EXPORT, ...settings }));

/**
 * Imports a file's rows. A small file does not wait for large ones of other companies, but for those of its own
 * company: it would otherwise wait at the company's lock while holding a connection.
 */
export function importTransaction<T>(companyId: string, work: Work<T>, { isSmall = false } = {}): Promise<T> {
  const { imports, smallImports } = limits();
  const limit = isSmall && !imports.serves(companyId) ? smallImports : imports;
  return limit.run(companyId, () => onBulk(companyId, work));
}

interface SlicedWrite {
  ids: readonly string[];
  /** Ids per statement. */
  slice: number;
  /** Writes one slice of ids, in ascending order, so that two such requests do not deadlock. */
  write: (client: Client, ids: string[]) => Promise<void>;
}

/** Runs a request that writes thousands of rows in one transaction. */
export function writeManyRows(companyId: string, { ids, slice, write }: SlicedWrite): Promise<void> {
  const inOrder = [...new Set(ids.map((id) => id.toLowerCase()))].sort();
  const inSlices = async (client: Client) => {
    for (let at = 0; at < inOrder.length; at += slice) await write(client, inOrder.slice(at, at + slice));
  };
  return limits().writes.run(companyId, () => transaction(inSlices, INTERACTIVE));
}

/**
 * Writes recipients of a started newsletter. Does not wait for other companies' newsletters, because it may itself wait
 * for rows that the company's own work has locked.
 */
export const writeNewsletter = <T>(companyId: string, work: Work<T>): Promise<T> =>
  limits().newsletters.run(companyId, () => transaction(work));

/**
 * Ends a slice of a stopped campaign's remaining recipients, with limited concurrency, because hundreds of campaigns
 * may be stopped at once.
 */
export const endTransaction = <T>(companyId: string, work: Work<T>): Promise<T> =>
  limits().ends.run(companyId, () => onBulk(companyId, work));

/** Writes one slice of a campaign. Expansion limits its own concurrency (expansion-queue.ts). */
export const sliceTransaction = <T>(companyId: string | undefined, work: Work<T>): Promise<T> =>
  onBulk(companyId, work);
