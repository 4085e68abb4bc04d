/** Parses the headers for the trace collector. Pure. */
const HEADER = /^([\w!#$%&'*+.^`|~-]+)=(.*)$/;

/** `name=value,name=value` with percent-encoded values, as in OTEL_EXPORTER_OTLP_HEADERS; null if invalid. */
export function parseOtlpHeaders(text: string): Record<string, string> | null {
  const headers: Record<string, string> = {};
  for (const pair of text.split(",")) {
    const [, name, value] = HEADER.exec(pair.trim()) ?? [];
    if (!name) return null;
    try {
      headers[name.toLowerCase()] = decodeURIComponent(value!.trim());
    } catch {
      return null;
    }
    if (/[^\t\x20-\x7e]/.test(headers[name.toLowerCase()]!)) return null;
  }
  return headers;
}
