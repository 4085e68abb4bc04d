/** A collector for traces in OTLP/HTTP with JSON. Input that violates the format is an error. */
import { startWebServer, type WebServer } from "./web-server.ts";

type Value = { stringValue: string } | { boolValue: boolean } | { intValue: number } | { doubleValue: number };
interface KeyValue {
  key: string;
  value: Value;
}

interface WireSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  flags: number;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: KeyValue[];
  links: { traceId: string; spanId: string; flags: number }[];
  status: { code?: number };
}

interface Wire {
  resourceSpans: {
    resource: { attributes: KeyValue[] };
    scopeSpans: { scope: { name: string; version: string }; spans: WireSpan[] }[];
  }[];
}

export interface SeenSpan {
  name: string;
  kind: "internal" | "server" | "client" | "producer" | "consumer";
  traceId: string;
  spanId: string;
  parentId: string | undefined;
  links: { traceId: string; spanId: string }[];
  attributes: Record<string, string | number | boolean>;
  resource: Record<string, string | number | boolean>;
  failed: boolean;
  startMs: number;
  durationMs: number;
}

export interface Collector {
  url: string;
  web: WebServer;
  /** Ordered by end. */
  spans(): SeenSpan[];
  /** Everything it has received. */
  text(): string;
  /** Waits until the spans satisfy `enough`. */
  until(enough: (spans: SeenSpan[]) => boolean): Promise<SeenSpan[]>;
  stop(): Promise<void>;
}

const KINDS = ["", "internal", "server", "client", "producer", "consumer"] as const;

function valueIn({ value, key }: KeyValue): string | number | boolean {
  const [[type, inside], ...more] = Object.entries(value) as [[string, unknown], ...unknown[]];
  const types: Record<string, string> = {
    stringValue: "string",
    boolValue: "boolean",
    intValue: "number",
    doubleValue: "number",
  };
  if (more.length > 0 || typeof inside !== types[type]) throw new Error(`no value of OTLP at ${key}: ${type}`);
  return inside as string | number | boolean;
}

const attributesOf = (list: KeyValue[]) => Object.fromEntries(list.map((one) => [one.key, valueIn(one)]));

const FIELDS = new Set(
  [
    "traceId spanId parentSpanId flags name kind startTimeUnixNano endTimeUnixNano attributes links status",
    "events droppedAttributesCount droppedEventsCount droppedLinksCount",
  ]
    .join(" ")
    .split(" "),
);

const TRACE_ID = /^(?!0{32})[\da-f]{32}$/;
const SPAN_ID = /^(?!0{16})[\da-f]{16}$/;
const NANOS = /^\d{19}$/;

function check(span: WireSpan): void {
  const { traceId, spanId, parentSpanId, kind, startTimeUnixNano: start, endTimeUnixNano: end, links } = span;
  const isOtlp =
    Object.keys(span).every((field) => FIELDS.has(field)) &&
    [traceId, ...links.map((link) => link.traceId)].every((id) => TRACE_ID.test(id)) &&
    [spanId, parentSpanId ?? spanId, ...links.map((link) => link.spanId)].every((id) => SPAN_ID.test(id)) &&
    Boolean(KINDS[kind]) &&
    [start, end].every((nanos) => NANOS.test(nanos)) &&
    BigInt(end) >= BigInt(start);
  if (!isOtlp) throw new Error(`no span of OTLP: ${JSON.stringify(span)}`);
}

function seen(span: WireSpan, resource: SeenSpan["resource"]): SeenSpan {
  check(span);
  return {
    name: span.name,
    kind: KINDS[span.kind] as SeenSpan["kind"],
    traceId: span.traceId,
    spanId: span.spanId,
    parentId: span.parentSpanId,
    links: span.links.map(({ traceId, spanId }) => ({ traceId, spanId })),
    attributes: attributesOf(span.attributes),
    resource,
    failed: span.status.code === 2,
    startMs: Number(BigInt(span.startTimeUnixNano) / 1_000_000n),
    durationMs: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6,
  };
}

function spansOf(body: string): SeenSpan[] {
  const { resourceSpans } = JSON.parse(body) as Wire;
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map((span) => seen(span, attributesOf(resource.attributes)))),
  );
}

const WITHIN_MS = 50_000;

export async function startCollector(): Promise<Collector> {
  const web = await startWebServer();
  const traceRequests = () => web.asked.filter(({ method, url }) => method === "POST" && url === "/v1/traces");
  const spansByBody = new Map<object, SeenSpan[]>();
  const readOnce = (asked: { body: string }): SeenSpan[] => {
    const spans = spansByBody.get(asked) ?? spansOf(asked.body);
    spansByBody.set(asked, spans);
    return spans;
  };
  const spans = () => traceRequests().flatMap(readOnce);
  return {
    url: web.url,
    web,
    spans,
    text: () =>
      traceRequests()
        .map(({ body }) => body)
        .join("\n"),
    async until(enough) {
      const deadline = Date.now() + WITHIN_MS;
      for (;;) {
        const now = spans();
        if (enough(now)) return now;
        if (Date.now() > deadline) throw new Error(`Not within ${WITHIN_MS} ms: ${now.map(({ name }) => name)}`);
        await new Promise((done) => setTimeout(done, 50));
      }
    },
    stop: () => web.stop(),
  };
}
