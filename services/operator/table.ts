/** Renders rows as aligned lines for a terminal. */

// Terminals obey control characters, and bidirectional marks reverse their neighbours; names and SMTP answers are
// untrusted.
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Replaces characters that a terminal would obey. */
export const withoutControls = (text: string): string => text.replace(OBEYED, " ");

const text = (value: unknown): string => {
  if (value === null || value === undefined) return "-";
  if (typeof value === "object") return withoutControls(Array.isArray(value) ? value.join(" ") : JSON.stringify(value));
  return withoutControls(String(value));
};

// Characters twice as wide as a letter (East Asian, emoji), and characters without width.
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;
const NO_WIDTH = /\p{M}|\u200b|\u200c|\u200d|\u2060|\ufeff/u;

const widthOf = (character: string) => (NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1);

/** Pads or cuts (with an ellipsis) to exactly `width` terminal columns. */
export function fitted(value: string, width: number): string {
  let used = 0;
  let kept = "";
  let short = "";
  for (const character of withoutControls(value)) {
    used += widthOf(character);
    if (used > width) return width <= 0 ? "" : `${short}…${" ".repeat(width - 1 - columnsOf(short))}`;
    kept += character;
    if (used <= width - 1) short = kept;
  }
  return kept + " ".repeat(width - used);
}

/** Same, padded at the start. */
export function fittedRight(value: string, width: number): string {
  const cut = fitted(value, width).trimEnd();
  return " ".repeat(Math.max(0, width - columnsOf(cut))) + cut;
}

/** Number of terminal columns that a text takes. */
export const columnsOf = (value: string): number => [...value].reduce((sum, character) => sum + widthOf(character), 0);

export function table(rows: readonly object[]): string {
  if (rows.length === 0) return "(none)";
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = rows.map((row) => columns.map((column) => text((row as Record<string, unknown>)[column])));
  const widths = columns.map((column, i) => Math.max(column.length, ...cells.map((line) => columnsOf(line[i]!))));
  const line = (values: string[]) =>
    values
      .map((value, i) => fitted(value, widths[i]!))
      .join("  ")
      .trimEnd();
  return [line(columns), line(widths.map((width) => "-".repeat(width))), ...cells.map(line)].join("\n");
}

interface AnyError {
  message: string;
  data?: { fields?: Record<string, string[]> };
}

/** An error as one line: the API's messages, each after its field name. */
export function sentence(error: unknown): string {
  const { message, data } = error as AnyError;
  if (!data?.fields) return message;
  return Object.entries(data.fields)
    .map(([field, value]) => `${field}: ${value.join(" ")}`)
    .join(" ");
}
