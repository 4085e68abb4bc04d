/**
 * Import of a CSV file: read as a stream, copied into a temporary table, then merged in one statement. Neither memory
 * nor the time that locks are held grows with the file: counters are touched at the end of the last statement.
 */
import { pipeline } from "node:stream/promises";
import { DatabaseError } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { type Client, query, transaction } from "../../../models/database/db.ts";
import { subscriberLimitReached } from "../../lib/errors.ts";
import { takeTurn } from "../bulk-turn.ts";
import { type Limit, roomFor } from "../company-locks.ts";
import { type CsvRow, readCsv } from "./csv-reader.ts";
import { columnsOf, fileFault, notUtf8 } from "./import-columns.ts";
import { copyLines, isBlank, Tally } from "./import-rows.ts";
import { countFresh, type Merged, mergeImport, prepareImport } from "./merge-import.ts";

const MAX_TRIES = 5;
const LARGE = 10_000;
/** Unique violation, deadlock: a request wrote one of the same addresses at the same time. */
const RACES = new Set(["23505", "40P01"]);

export interface ImportJob {
  companyId: string;
  limit: Limit;
  listId?: string;
}

/** Spreadsheets' "Unicode text" is UTF-16, which decodes to rubbish; its first bytes tell. */
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

/** The header and the rows behind it. Nothing is written for a file without a usable header. */
async function open(stream: AsyncIterable<unknown>) {
  const batches = readCsv(refuseUtf16(stream));
  async function* rows(rest: CsvRow[]): AsyncGenerator<CsvRow[]> {
    yield rest;
    yield* batches;
  }
  try {
    for (;;) {
      const { done, value: batch } = await batches.next();
      if (done) throw fileFault("The submitted file is empty.");
      const at = batch.findIndex((row) => !isBlank(row));
      if (at === -1) continue;
      const header = batch[at]!;
      if (header.fault) throw fileFault(header.fault);
      return { columns: columnsOf(header.cells), rows: rows(batch.slice(at + 1)) };
    }
  } catch (error) {
    // Closes the file that nobody will read on.
    await batches.return(undefined);
    throw error;
  }
}

/** Somebody else may create one of the addresses in the meantime: then the merge runs once more and finds it there. */
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
  if (!stream) throw fileFault("No file was submitted.");
  const { columns, rows } = await open(stream);
  const tally = new Tally();
  const report = await transaction(async (client) => {
    const copy = await prepareImport(client);
    await pipeline(copyLines(columns, rows, tally), client.query(copyFrom(copy)));
    await takeTurn(client, job.companyId);
    const room = await roomFor(client, job.companyId, job.limit);
    const { fresh, repeated } = await countFresh(client, job.companyId, room);
    if (fresh > room) throw subscriberLimitReached(job.limit!);
    const { created, matched } = await merge(client, job);
    const { total, skipped, errors } = tally;
    return { total, created, updated: matched + repeated, skipped, errors, errors_count: skipped };
  });
  // Until the tables are looked at, the planner takes a company for a handful of rows; autovacuum comes in a minute or so.
  if (report.created >= LARGE) await query("analyze (skip_locked) subscribers, list_members");
  return report;
}
