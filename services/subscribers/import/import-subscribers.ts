/**
 * Imports a CSV file: reads it as a stream, copies it into a temporary table, and merges it in one transaction. Memory
 * use does not depend on the file's size.
 */
import { pipeline } from "node:stream/promises";
import { DatabaseError } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { importTransaction } from "../../../models/database/bulk.ts";
import type { Client } from "../../../models/database/db.ts";
import { ERASED_ERROR, erasedTest } from "../../../models/statements/erased-addresses.ts";
import type { OwnImport } from "../../../models/statements/imports.ts";
import { type Limit, lockBulkWrites, roomFor } from "../../../models/statements/subscriber-locks.ts";
import { subscriberLimitReached } from "../../lib/errors.ts";
import type { Static } from "../../lib/shapes.ts";
import type { ImportReport as ImportReportSchema } from "../contract-import.ts";
import { analyzeTables } from "./analyze-tables.ts";
import type { DateOrder } from "./cell-types.ts";
import { type Columns, columnsOf, type Mapping, numberedColumns, spelledAsStored } from "./columns.ts";
import { type CsvRow, readCsv } from "./csv-reader.ts";
import { decodeText, fileError } from "./decode-text.ts";
import { ErrorFile } from "./error-file.ts";
import { copyLines, isBlank, Tally } from "./import-rows.ts";
import { countNew, countSuppressed, dropRepeated, type MergeJob, prepareImport } from "./import-tables.ts";
import { type Merged, mergeImport, tryMerge } from "./merge-import.ts";

type ImportReport = Static<typeof ImportReportSchema>;

const MAX_TRIES = 5;
/** Unique violation, deadlock: a concurrent request wrote one of the addresses. */
const RACES = new Set(["23505", "40P01"]);

export interface ImportJob {
  companyId: string;
  limit: Limit;
  listId?: string | undefined;
  charset?: string | undefined;
  mapping?: Mapping;
  /** False: the first line is data, and `mapping` names columns by number. */
  header?: boolean | undefined;
  onConflict?: "update" | "skip" | undefined;
  /** Order of day and month in days such as 03/04/2000. */
  dateOrder?: DateOrder | undefined;
  /** Counts everything and writes nothing. */
  dryRun?: boolean | undefined;
  /** Size of the file. */
  bytes?: number;
  /** Row of a background import. */
  own?: OwnImport;
  /** Writes the report in the transaction of the rows. */
  finish?: (client: Client, report: ImportReport) => Promise<void>;
}

interface OpenCsv<C> {
  columns: C;
  /** Rows after the header. */
  rows: AsyncIterable<CsvRow[]>;
}

/** Reads the header and returns the rows. A file with unusable columns is refused before anything is written. */
export async function openCsv<C>(
  stream: AsyncIterable<unknown>,
  { charset, header: hasHeader = true }: { charset?: string | undefined; header?: boolean | undefined },
  read: (first: string[]) => C | Promise<C>,
): Promise<OpenCsv<C>> {
  const batches = readCsv(decodeText(stream, charset));
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
      return { columns: await read(header.cells), rows: rows(batch.slice(hasHeader ? at + 1 : at)) };
    }
  } catch (error) {
    // Closes the stream, which is not read further.
    await batches.return(undefined);
    throw error;
  }
}

/** If a concurrent request creates one of the addresses, the merge runs again and finds it. */
async function merge(client: Client, job: MergeJob, rows: number): Promise<Merged> {
  for (let tries = 1; ; tries++) {
    await client.query("savepoint before_merge");
    try {
      return await mergeImport(client, job, rows);
    } catch (error) {
      const raced = error instanceof DatabaseError && RACES.has(error.code ?? "");
      if (!raced || tries === MAX_TRIES) throw error;
      await client.query("rollback to savepoint before_merge");
    }
  }
}

/** Counts each row of the file once. */
function counted({ created, matched, restricted }: Merged, repeated: number, tally: Tally, { onConflict }: MergeJob) {
  const known = matched + repeated;
  const updated = onConflict === "skip" ? restricted : known;
  const { total, errors } = tally;
  const skipped = tally.skipped + known - updated;
  return { total, created, updated, skipped, repeated, errors, errors_count: tally.skipped };
}

/** Removes addresses of erased persons before the report is stored. */
const storedReport = (report: ImportReport): ImportReport => ({
  ...report,
  errors: report.errors.map((one) => (one.error.endsWith(ERASED_ERROR) ? { ...one, email: "" } : one)),
});

/** Some thousand rows. */
const SMALL_BYTES = 64 * 1024;
const isSmall = ({ bytes = 0 }: ImportJob): boolean => bytes > 0 && bytes <= SMALL_BYTES;

/** Reads the file into the import's own table, without blocking anybody. */
async function readInto(client: Client, job: ImportJob, { columns, rows }: OpenCsv<Columns>, tally: Tally) {
  const { companyId } = job;
  const copy = await prepareImport(client);
  const wasErased = await erasedTest(companyId, client);
  const refusal = (address: string) => (wasErased(address) ? ERASED_ERROR : undefined);
  await pipeline(copyLines(columns, rows, tally, refusal), client.query(copyFrom(copy)));
}

async function importRows(csv: OpenCsv<Columns>, job: ImportJob, file: ErrorFile): Promise<ImportReport> {
  const { companyId, listId, onConflict = "update" } = job;
  const tally = new Tally(file);
  const run = async (client: Client) => {
    const beganMs = Date.now();
    await readInto(client, job, csv, tally);
    await file.end();
    const merging = { companyId, importId: file.id, listId, onConflict, state: tally.state };
    const rows = tally.total - tally.skipped;
    const types = tally.types.decide(job.dateOrder);
    const repeated = await dropRepeated(client, merging, { rows, beganMs, types });
    const suppressed = await countSuppressed(client, companyId);
    // Blocks other writers of this company during the merge only, never while the file is read.
    if (!job.dryRun) await lockBulkWrites(client, companyId);
    const room = await roomFor(client, companyId, job.limit);
    if ((await countNew(client, companyId, room)) > room) throw subscriberLimitReached(job.limit!);
    const merged = await (job.dryRun ? tryMerge(client, merging) : merge(client, merging, rows));
    const report = {
      import_id: file.id,
      ...counted(merged, repeated, tally, merging),
      suppressed,
      errors_url: file.url,
      columns: types,
      decoded_cells: tally.decoded,
    };
    await job.finish?.(client, storedReport(report));
    return report;
  };
  return importTransaction(companyId, run, { isSmall: isSmall(job) });
}

export async function importSubscribers(
  stream: NodeJS.ReadableStream | null | undefined,
  job: ImportJob,
): Promise<ImportReport> {
  if (!stream) throw fileError("No file was submitted.");
  const csv = await openCsv(stream, job, (first) =>
    spelledAsStored(
      job.companyId,
      job.header === false ? numberedColumns(first, job.mapping ?? {}) : columnsOf(first, job.mapping),
    ),
  );
  const file = new ErrorFile(job);
  const report = await importRows(csv, job, file).catch(async (error: unknown) => {
    await file.drop();
    throw error;
  });
  if (!job.dryRun) await analyzeTables(report.created);
  return report;
}
