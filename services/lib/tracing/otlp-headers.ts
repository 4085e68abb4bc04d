/** The headers that the collector of traces is sent. Pure. */
const HEADER = /^([\w!#$%&'*+.^`|~-]+)=(.*)$/;

/** `name=value,name=value`, values percent-encoded, as OTEL_EXPORTER_OTLP_HEADERS has them; null for what is not that. */
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
