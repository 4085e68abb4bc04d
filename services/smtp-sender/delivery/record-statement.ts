/**
 * Chooses the statement that writes a group of results (models/statements/record-outcomes.ts), and builds its values.
 */

import { RECORD, RECORD_ALL, RECORD_LEASES, RECORD_ROW_ONLY } from "../../../models/statements/record-outcomes.ts";
import {
  bouncesOf,
  type ChunkUpdate,
  campaignColumns,
  chunkColumns,
  copyResultColumns,
  copyRows,
  type LeasedChunk,
  mailColumns,
  type RecordedResult,
  resultColumns,
} from "./recorded-result.ts";

interface RecordOptions {
  owner: string;
  leaseMs: number;
  /** Updates only the row, without events and webhooks. */
  rowOnly?: boolean;
}

interface RecordStatement {
  name: string;
  text: string;
  values: unknown[];
}

interface Columns {
  results: unknown[];
  mails: unknown[];
  bounces: string;
  copies: string;
  copyResults: unknown[];
}

const NONE = "[]";
const json = (rows: readonly unknown[]) => (rows.length === 0 ? NONE : JSON.stringify(rows));

function columnsOf(results: readonly RecordedResult[], mails: readonly RecordedResult[]): Columns {
  return {
    results: resultColumns(mails),
    mails: mailColumns(mails),
    bounces: json(bouncesOf(mails)),
    copies: json(copyRows(mails)),
    copyResults: copyResultColumns(mails === results ? [] : results.filter(({ copyNo }) => copyNo !== null)),
  };
}

function mailsOf(results: readonly RecordedResult[]): readonly RecordedResult[] {
  return results.every(({ copyNo }) => copyNo === null) ? results : results.filter(({ copyNo }) => copyNo === null);
}

const lateValuesOf = (columns: Columns, fences: (number | null)[]): unknown[] => [
  ...columns.results,
  ...columns.mails,
  fences,
  columns.bounces,
  columns.copies,
  ...columns.copyResults,
];

/** Values of results written without a lease (record-late-outcomes.ts). */
export function lateValues(results: readonly RecordedResult[]): unknown[] {
  const mails = mailsOf(results);
  const fences = mails.map(({ chunk }) => (chunk && !chunk.historyIsLost ? chunk.fence : null));
  return lateValuesOf(columnsOf(results, mails), fences);
}

/** Values that rewrite results already written (record-late-outcomes.ts). */
export function rewriteValues(results: readonly RecordedResult[]): unknown[] {
  return lateValuesOf(columnsOf(results, mailsOf(results)), []);
}

/** The smallest statement that writes these results and leases for `owner`. */
export function recordStatement(
  results: readonly RecordedResult[],
  chunks: ReadonlyMap<LeasedChunk, ChunkUpdate>,
  { owner, leaseMs, rowOnly = false }: RecordOptions,
): RecordStatement {
  const leases = chunkColumns(chunks, owner, leaseMs);
  if (results.length === 0) return { name: "record-leases", text: RECORD_LEASES, values: leases };
  const mails = mailsOf(results);
  const columns = columnsOf(results, mails);
  const values = [...leases, ...columns.results, ...campaignColumns(mails), ...columns.mails];
  const copies = [columns.copies, ...columns.copyResults];
  if (rowOnly) return { name: "record-row-only", text: RECORD_ROW_ONLY, values: [...values, ...copies] };
  if (columns.bounces === NONE && columns.copies === NONE && mails === results)
    return { name: "record", text: RECORD, values };
  return { name: "record-all", text: RECORD_ALL, values: [...values, columns.bounces, ...copies] };
}
