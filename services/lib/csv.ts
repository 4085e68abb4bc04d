/** Writes CSV for all exports (RFC 4180), safe to open in a spreadsheet. */

type Cell = string | number | boolean | Date | null | undefined;

/**
 * Spreadsheets run cells with these beginnings as formulas, in some languages also with the full-width signs. An added
 * apostrophe makes them text, and an import removes it again; a text's own apostrophes are kept.
 */
const FORMULA = /^'*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
/** Semicolon and tab as well: a spreadsheet may take either as the delimiter. */
const NEEDS_QUOTES = /[",;\t\r\n]/;

export function csvCell(value: Cell): string {
  if (value === null || value === undefined) return "";
  if (value instanceof Date) return value.toISOString();
  if (typeof value !== "string") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const withoutGuard = (text: string): string =>
  text.charCodeAt(0) === 39 && FORMULA.test(text) ? text.slice(1) : text;

export const csvRow = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(",")}\r\n`;
