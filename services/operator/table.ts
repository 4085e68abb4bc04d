/** Rows as a terminal shows them: a line each, columns aligned. */

// A terminal obeys control characters, and those of bidirectional text turn round what stands beside them; names and SMTP
// answers are not to be trusted.
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** What a terminal shows and does not obey. */
export const shown = (text: string): string => text.replace(OBEYED, " ");

const text = (value: unknown): string => {
  if (value === null || value === undefined) return "-";
  if (typeof value === "object") return shown(Array.isArray(value) ? value.join(" ") : JSON.stringify(value));
  return shown(String(value));
};

// Twice as wide as a letter (East Asian, emoji), and without a width of their own.
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]/u;
const NO_WIDTH = /\p{M}|\u200b|\u200c|\u200d|\u2060|\ufeff/u;

const widthOf = (character: string) => (NO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1);

/** Exactly `width` columns of a terminal: padded at its end, or cut with an ellipsis. */
export function fitted(value: string, width: number): string {
  let used = 0;
  let kept = "";
  let short = "";
  for (const character of shown(value)) {
    used += widthOf(character);
    if (used > width) return width <= 0 ? "" : `${short}…${" ".repeat(width - 1 - columnsOf(short))}`;
    kept += character;
    if (used <= width - 1) short = kept;
  }
  return kept + " ".repeat(width - used);
}

/** The same with the padding in front. */
export function fittedRight(value: string, width: number): string {
  const cut = fitted(value, width).trimEnd();
  return " ".repeat(Math.max(0, width - columnsOf(cut))) + cut;
}

/** How many columns of a terminal it takes. */
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

/** An error in one line: the sentences of the API where it has any, behind the name of the field they are about. */
export function sentence(error: unknown): string {
  const { message, data } = error as AnyError;
  if (!data?.fields) return message;
  return Object.entries(data.fields)
    .map(([field, value]) => `${field}: ${value.join(" ")}`)
    .join(" ");
}
