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
  data?: { body?: Record<string, unknown> };
}

const errorsOf = (value: unknown) => (Array.isArray(value) ? value.join(" ") : JSON.stringify(value));

/** An error in one line: the sentences of the API where it has any, behind the name of the field they are about. */
export function sentence(error: unknown): string {
  const { message, data } = error as AnyError;
  const body = data?.body;
  if (!body) return message;
  if (typeof body.detail === "string") return body.detail;
  if (body.detail) return JSON.stringify(body.detail);
  return Object.entries(body)
    .map(([field, value]) => `${field}: ${errorsOf(value)}`)
    .join(" ");
}
