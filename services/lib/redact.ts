/** Redacts log entries: returns a copy without secrets, bodies of emails and additional properties of errors. */

const MAX_DEPTH = 6;
const MAX_TEXT = 2_000;
const BLANK = "[redacted]";

const SECRET_NAME =
  /pass(word|wd)?$|password|secret|authorization|cookie|token|api[-_]?key$|private_?key|otlp_headers$|sealed|^key$|^access$|^refresh$/i;
/** Content of people's emails and data: in a log it is a leak, and it is long. */
const CONTENT_NAME = /^(body|html|text|raw|copy|tail|variables|attributes|receivers|payload|parameters|sql|bind)$/i;

const IN_TEXT: readonly [RegExp, string][] = [
  [/\bfm_[0-9A-Za-z]{16,}/g, "fm_[redacted]"],
  [/\bwhsec_[\w+/=-]+/g, "whsec_[redacted]"],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, "$1 [redacted]"],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, "[redacted]"],
  // The password in a URL of a server.
  [/(\w:\/\/[^\s:/@]*):[^\s/@]+@/g, "$1:[redacted]@"],
];

export function redactText(text: string): string {
  let clean = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  for (const [pattern, instead] of IN_TEXT) clean = clean.replace(pattern, instead);
  return clean;
}

/** An error's other properties contain statements with their values, request bodies and similar data. */
function errorFields(error: Error): Record<string, unknown> {
  const { code, type } = error as Error & { code?: unknown; type?: unknown };
  return {
    name: error.name,
    message: redactText(error.message),
    ...(code === undefined ? {} : { code }),
    ...(typeof type === "string" ? { type } : {}),
    stack: redactText(error.stack ?? ""),
    ...(error.cause instanceof Error ? { cause: errorFields(error.cause) } : {}),
  };
}

export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return redactText(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Error) return errorFields(value);
  if (value instanceof Date) return value;
  if (Buffer.isBuffer(value)) return `[${value.length} bytes]`;
  if (depth === MAX_DEPTH) return "…";
  if (Array.isArray(value)) return value.slice(0, 50).map((one) => redact(one, depth + 1));
  const clean: Record<string, unknown> = {};
  for (const [name, inside] of Object.entries(value)) {
    const hidden = SECRET_NAME.test(name) || CONTENT_NAME.test(name);
    clean[name] = hidden && inside !== null && inside !== undefined ? BLANK : redact(inside, depth + 1);
  }
  return clean;
}
