/**
 * Rows as PostgreSQL writes them. For exports: pg makes dates, objects and arrays of columns, which took two thirds of the time
 * that a line of CSV took, and most of them become text again.
 */
import pg from "pg";
import type { Client } from "./db.ts";

const AS_TEXT = { getTypeParser: () => (text: string) => text };

export type TextRow = (string | null)[];

export async function textRows(text: string, values: unknown[], on: Client): Promise<TextRow[]> {
  return (await on.query<TextRow>({ text, values, rowMode: "array", types: AS_TEXT })).rows;
}

const parsed = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (text: string) => Date;

/** Any year of four digits, where the session's time zone is UTC (session-settings.ts). */
const USUAL = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?\+00$/;

/** As `toISOString()` has it. */
export function isoTime(text: string): string {
  if (!USUAL.test(text)) return parsed(text).toISOString();
  const fraction = text.slice(20, -3).padEnd(3, "0").slice(0, 3);
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction}Z`;
}
