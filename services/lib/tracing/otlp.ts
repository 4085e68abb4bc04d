/** Spans as OTLP/HTTP has them in JSON (opentelemetry-proto 1.x): ids in hexadecimal, times in nanoseconds as text. Pure. */
import type { Attributes, Span, SpanKind } from "./span.ts";

/** A word that is longer is none of ours. */
const MAX_TEXT = 256;
const KINDS: Record<SpanKind, number> = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 };
const FAILED = 2;
/** Trace flags: sampled. */
const FLAGS = 1;
/** Whose clock the monotonic one is compared with may be set meanwhile. */
const CLOCK_WAS_SET_MS = 50;

let offsetMs = Date.now() - performance.now();

function followClock(): void {
  const now = Date.now() - performance.now();
  if (Math.abs(now - offsetMs) > CLOCK_WAS_SET_MS) offsetMs = now;
}

/** `ms` of the monotonic clock in nanoseconds since 1970; a microsecond is as fine as it gets. */
const nanos = (ms: number): string => `${Math.round((ms + offsetMs) * 1_000)}000`;

function wireValue(value: string | number | boolean): object {
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "string") return { stringValue: value.slice(0, MAX_TEXT).toWellFormed() };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

const attributesOf = (attributes: Attributes): object[] =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined || value === null ? [] : [{ key, value: wireValue(value) }],
  );

function spanOf({ name, kind, context, parentId, links, attributes, startedAtMs, endedAtMs, error }: Span): object {
  const errorType = error === undefined ? {} : { "error.type": error };
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    ...(parentId === undefined ? {} : { parentSpanId: parentId }),
    flags: FLAGS,
    name: name.slice(0, MAX_TEXT).toWellFormed(),
    kind: KINDS[kind],
    startTimeUnixNano: nanos(startedAtMs),
    endTimeUnixNano: nanos(endedAtMs ?? startedAtMs),
    attributes: attributesOf({ ...attributes, ...errorType }),
    links: links.map(({ traceId, spanId }) => ({ traceId, spanId, flags: FLAGS })),
    status: error === undefined ? {} : { code: FAILED },
  };
}

/** The body of a POST to /v1/traces. `resource`: what all of them come from. */
export function otlpRequest(resource: Attributes, version: string, spans: readonly Span[]): string {
  followClock();
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: "flockmail", version }, spans: spans.map(spanOf) }],
      },
    ],
  });
}

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
