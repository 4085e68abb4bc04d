/** One rule for every CSV that leaves the service (RFC 4180), safe to open in a spreadsheet. */

export type Cell = string | number | boolean | Date | null | undefined;

/** A spreadsheet runs a cell that begins like this as a formula; the apostrophe makes it text. */
const FORMULA = /^[=+\-@\t\r]/;
/** Semicolon and tab too: a spreadsheet may take either for the delimiter. */
const NEEDS_QUOTES = /[",;\t\r\n]/;

export function csvCell(value: Cell): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "string") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvRow = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(",")}\r\n`;
