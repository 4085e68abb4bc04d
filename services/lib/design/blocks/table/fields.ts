import { type Fields, flag, items, line } from "../../fields.ts";

/** Cells beyond the first row's number are left out. */
export const fields = {
  header: flag(true),
  rows: items({ cells: items({ text: line() }, 6) }, 100),
} as const satisfies Fields;
