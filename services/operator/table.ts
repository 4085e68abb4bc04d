/** Rows as a terminal shows them: a line each, columns aligned. */
const text = (value: unknown): string => {
  if (value === null || value === undefined) return "-";
  if (typeof value === "object") return Array.isArray(value) ? value.join(" ") : JSON.stringify(value);
  // A terminal obeys control characters; names and SMTP answers are not to be trusted.
  return String(value).replace(/[\u0000-\u001f\u007f-\u009f]/g, " ");
};

export function table(rows: readonly object[]): string {
  if (rows.length === 0) return "(none)";
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = rows.map((row) => columns.map((column) => text((row as Record<string, unknown>)[column])));
  const widths = columns.map((column, i) => Math.max(column.length, ...cells.map((line) => line[i]!.length)));
  const line = (values: string[]) =>
    values
      .map((value, i) => value.padEnd(widths[i]!))
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
