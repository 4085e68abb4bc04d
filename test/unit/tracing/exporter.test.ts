import { type Attributes, SpanKind } from "@opentelemetry/api";
import { readMetrics } from "../../../services/lib/metrics.ts";
import { type OpenTracer, openTracer } from "../../../services/lib/tracing/open-tracer.ts";
import { parseOtlpHeaders } from "../../../services/lib/tracing/otlp-headers.ts";
import { type Collector, startCollector } from "../../support/otlp-collector.ts";

const METRIC = "flockmail_trace_spans_total";

async function counted(): Promise<Record<string, number>> {
  const lines = (await readMetrics()).matchAll(new RegExp(`^${METRIC}\\{result="(\\w+)"\\} (\\d+)$`, "gm"));
  return Object.fromEntries([...lines].map(([, result, n]) => [result, Number(n)]));
}

/** Returns the increase of the metric since then. */
async function since(before: Record<string, number>): Promise<Record<string, number>> {
  const added = Object.entries(await counted()).map(([result, n]) => [result, n - (before[result] ?? 0)] as const);
  return Object.fromEntries(added.filter(([, n]) => n > 0));
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error("It did not happen");
    await new Promise((done) => setTimeout(done, 10));
  }
}

describe("the exporter", () => {
  let collector: Collector;
  let opened: OpenTracer;
  let log: string[];
  let before: Record<string, number>;
  beforeEach(async () => {
    collector = await startCollector();
    log = [];
    before = await counted();
  });
  afterEach(async () => {
    await opened.close();
    await collector.stop();
  });

  const open = (options: { lingerMs?: number; flushMs?: number } = {}, url = collector.url) => {
    const note = (text: string) => void log.push(text);
    opened = openTracer(
      {
        url: `${url}/v1/traces`,
        headers: parseOtlpHeaders("authorization=Bearer%20k3y,x-team=mail")!,
        resource: { "service.name": "flockmail" },
      },
      { info: note, warn: note },
      { ratio: 1, lingerMs: 10, ...options },
    );
  };
  const add = (n: number, attributes: Attributes = {}) => {
    for (let i = 0; i < n; i++) opened.tracer.begin({ name: "work", kind: SpanKind.INTERNAL, attributes }).end();
  };

  test("posts spans in batches, with the configured headers and attributes in their types", async () => {
    open();
    add(1_200, { text: "a".repeat(500), whole: 7, part: 0.5, flag: true, none: undefined });
    await until(async () => (await since(before)).exported === 1_200);
    expect(collector.spans()).toHaveLength(1_200);
    expect(collector.spans()[0]).toMatchObject({
      attributes: { text: "a".repeat(256), whole: 7, part: 0.5, flag: true },
      resource: { "service.name": "flockmail" },
    });
    expect(Math.abs(collector.spans()[0]!.startMs - Date.now())).toBeLessThan(60_000);
    expect(collector.web.asked.length).toBeLessThan(10);
    expect(collector.web.asked[0]!.headers).toMatchObject({
      authorization: "Bearer k3y",
      "x-team": "mail",
      "content-type": "application/json",
    });
    expect(await since(before)).toEqual({ ended: 1_200, exported: 1_200 });
  });

  test("delays nobody if the collector never answers, not even the stop, and keeps at most 4,096 spans", async () => {
    collector.web.on = () => new Promise(() => {});
    open({ flushMs: 50 });
    add(600);
    await until(() => collector.web.asked.length > 0);
    add(10_000);
    expect(collector.spans()).toHaveLength(512);
    await opened.close();
    expect(collector.spans().length).toBeLessThanOrEqual(512 + 4_096);
    expect(await since(before)).toEqual({ ended: 10_600 });
  });

  test("reports once, without its address, a collector that accepts nothing, and its return", async () => {
    collector.web.answer = { status: 400 };
    open();
    add(3);
    await until(() => log.length > 0);
    add(3);
    await until(async () => (await since(before)).failed === 6);
    collector.web.reset();
    add(1);
    await until(() => log.length > 1);
    expect(log).toEqual(["Traces: the collector accepts nothing: 400", "Traces: the collector is available again"]);
    await opened.close();
    open({ lingerMs: 60_000, flushMs: 100 }, "http://127.0.0.1:9");
    add(1);
    await opened.close();
    expect(log.join()).not.toContain("127.0.0.1");
  });

  test("sends what waits when the process stops", async () => {
    open({ lingerMs: 60_000 });
    add(700);
    await opened.close();
    expect(collector.spans()).toHaveLength(700);
  });
});

test.each([
  ["api-key=a%2Cb", { "api-key": "a,b" }],
  ["A=b, c=d=e", { a: "b", c: "d=e" }],
  ["no value", null],
  ["a=%zz", null],
  ["a=%0d%0ab", null],
  ["=b", null],
])("reads OTEL_EXPORTER_OTLP_HEADERS=%s as %j", (text, headers) => {
  expect(parseOtlpHeaders(text)).toEqual(headers);
});
