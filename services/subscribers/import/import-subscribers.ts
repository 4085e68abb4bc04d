/**
 * Import of a CSV file: read as a stream, copied into a temporary table, then merged in one statement. Memory does not
 * grow with the file, and the counters' locks are held only from the end of the last statement.
 */
import { pipeline } from "node:stream/promises";
import { DatabaseError } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { importTransaction } from "../../../models/database/bulk.ts";
import { type Client, query } from "../../../models/database/db.ts";
import { ERASED_ERROR, erasedTest } from "../../../models/statements/erased-addresses.ts";
import { subscriberLimitReached } from "../../lib/errors.ts";
import { type Limit, lockBulkWrites, roomFor } from "../company-locks.ts";
import { type CsvRow, readCsv } from "./csv-reader.ts";
import { columnsOf, copyLines, fileError, isBlank, notUtf8, Tally } from "./import-rows.ts";
import { countNew, dropRepeated, type Merged, mergeImport, prepareImport } from "./merge-import.ts";

const MAX_TRIES = 5;
const LARGE = 10_000;
/** Unique violation, deadlock: a request wrote one of the same addresses at the same time. */
const RACES = new Set(["23505", "40P01"]);

interface ImportJob {
  companyId: string;
  limit: Limit;
  listId?: string;
}

/** Spreadsheets' "Unicode text" is UTF-16, recognized by its first bytes; decoded as UTF-8 it would be garbage. */
async function* refuseUtf16(stream: AsyncIterable<unknown>): AsyncGenerator<Buffer> {
  let first = true;
  for await (const chunk of stream) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk as string);
    if (first && ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)))
      throw notUtf8();
    first = false;
    yield bytes;
  }
}

/** The header and the rows after it. A file without a usable header is refused before anything is written. */
async function open(stream: AsyncIterable<unknown>) {
  const batches = readCsv(refuseUtf16(stream));
  async function* rows(rest: CsvRow[]): AsyncGenerator<CsvRow[]> {
    yield rest;
    yield* batches;
  }
  try {
    for (;;) {
      const { done, value: batch } = await batches.next();
      if (done) throw fileError("The submitted file is empty.");
      const at = batch.findIndex((row) => !isBlank(row));
      if (at === -1) continue;
      const header = batch[at]!;
      if (header.error) throw fileError(header.error);
      return { columns: columnsOf(header.cells), rows: rows(batch.slice(at + 1)) };
    }
  } catch (error) {
    // Closes the stream, which will not be read further.
    await batches.return(undefined);
    throw error;
  }
}

/** A concurrent request may create one of the addresses: the merge then runs again and finds it there. */
async function merge(client: Client, job: ImportJob): Promise<Merged> {
  for (let tries = 1; ; tries++) {
    await client.query("savepoint before_merge");
    try {
      return await mergeImport(client, job);
    } catch (error) {
      const raced = error instanceof DatabaseError && RACES.has(error.code ?? "");
      if (!raced || tries === MAX_TRIES) throw error;
      await client.query("rollback to savepoint before_merge");
    }
  }
}

export async function importSubscribers(stream: NodeJS.ReadableStream | null | undefined, job: ImportJob) {
  if (!stream) throw fileError("No file was submitted.");
  const { columns, rows } = await open(stream);
  const tally = new Tally();
  const report = await importTransaction(job.companyId, async (client) => {
    const copy = await prepareImport(client);
    const wasErased = await erasedTest(job.companyId, client);
    const refusal = (address: string) => (wasErased(address) ? ERASED_ERROR : undefined);
    await pipeline(copyLines(columns, rows, tally, refusal), client.query(copyFrom(copy)));
    const repeated = await dropRepeated(client);
    // From here on other writers of this company wait: for the merge, and never for the file.
    await lockBulkWrites(client, job.companyId);
    const room = await roomFor(client, job.companyId, job.limit);
    if ((await countNew(client, job.companyId, room)) > room) throw subscriberLimitReached(job.limit!);
    const { created, matched } = await merge(client, job);
    const { total, skipped, errors } = tally;
    return { total, created, updated: matched + repeated, skipped, errors, errors_count: skipped };
  });
  // Until the tables are analysed, the planner expects a handful of rows per company; autovacuum takes a minute or so.
  if (report.created >= LARGE) await query("analyze (skip_locked) subscribers, list_members");
  return report;
}
