import { readMetrics } from "../../../services/lib/metrics.ts";
import { parseOtlpHeaders } from "../../../services/lib/tracing/otlp.ts";
import { type Attributes, Span } from "../../../services/lib/tracing/span.ts";
import { type ExporterOptions, SpanExporter } from "../../../services/lib/tracing/span-exporter.ts";
import { type Collector, startCollector } from "../../support/otlp-collector.ts";

const METRIC = "flockmail_trace_spans_total";

async function counted(): Promise<Record<string, number>> {
  const lines = (await readMetrics()).matchAll(new RegExp(`^${METRIC}\\{result="(\\w+)"\\} (\\d+)$`, "gm"));
  return Object.fromEntries([...lines].map(([, result, n]) => [result, Number(n)]));
}

/** What was added to the metric since. */
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
  let exporter: SpanExporter;
  let log: string[];
  let before: Record<string, number>;
  beforeEach(async () => {
    collector = await startCollector();
    log = [];
    before = await counted();
  });
  afterEach(async () => {
    await exporter.close();
    await collector.stop();
  });

  const open = (options: ExporterOptions = {}, url = collector.url) => {
    const note = (text: string) => void log.push(text);
    exporter = new SpanExporter(
      {
        url: new URL(`${url}/v1/traces`),
        headers: parseOtlpHeaders("authorization=Bearer%20k3y,x-team=mail")!,
        resource: { "service.name": "flockmail" },
        version: "1.2.3",
      },
      { info: note, warn: note },
      { lingerMs: 10, pauseMs: 50, ...options },
    );
  };
  const add = (n: number, attributes: Attributes = {}) => {
    for (let i = 0; i < n; i++)
      new Span({ name: "work", kind: "internal", attributes }, (ended) => exporter.add(ended)).end();
  };

  test("posts spans in batches, with the headers that were set and attributes in their types", async () => {
    open();
    add(1_200, { text: "a", whole: 7, part: 0.5, flag: true, none: undefined });
    await until(async () => (await since(before)).exported === 1_200);
    expect(collector.spans()).toHaveLength(1_200);
    expect(collector.spans()[0]).toMatchObject({
      attributes: { text: "a", whole: 7, part: 0.5, flag: true },
      resource: { "service.name": "flockmail" },
    });
    expect(Math.abs(collector.spans()[0]!.startMs - Date.now())).toBeLessThan(60_000);
    expect(collector.web.asked.length).toBeLessThan(10);
    expect(collector.web.asked[0]!.headers).toMatchObject({
      authorization: "Bearer k3y",
      "x-team": "mail",
      "content-type": "application/json",
    });
    expect(await since(before)).toEqual({ exported: 1_200 });
  });

  test("while the collector is away spans wait in bounded memory, and what goes beyond is dropped and counted", async () => {
    collector.web.answer = { status: 503 };
    open();
    add(10_000);
    await until(() => log.length > 0);
    add(10_000);
    expect(exporter.waiting).toBe(4_096);
    collector.web.reset();
    await until(() => exporter.waiting === 0);
    expect(await since(before)).toEqual({ exported: 4_096, dropped_full: 15_904 });
    expect(log).toEqual(["Traces: the collector takes nothing: it answered 503", "Traces: the collector is back"]);
  });

  test("one that never answers holds nobody up, and neither does the stop", async () => {
    collector.web.on = () => new Promise(() => {});
    open({ flushMs: 50 });
    add(600);
    await until(() => collector.web.asked.length > 0);
    add(100);
    await exporter.close();
    expect(await since(before)).toEqual({ dropped_at_stop: 700 });
  });

  test("one that is not there is reported once, without its address", async () => {
    open({}, "http://127.0.0.1:9");
    add(3);
    await until(() => log.length > 0);
    add(3);
    await exporter.close();
    expect(log).toEqual(["Traces: the collector takes nothing: ECONNREFUSED"]);
    expect(await since(before)).toEqual({ dropped_at_stop: 6 });
  });

  test("what the collector refuses for good is not sent again", async () => {
    collector.web.answer = { status: 400 };
    open();
    add(5);
    await until(async () => (await since(before)).dropped_refused === 5);
    expect(exporter.waiting).toBe(0);
  });

  test("hands over what waits when it stops", async () => {
    open({ lingerMs: 60_000 });
    add(700);
    await exporter.close();
    expect(collector.spans()).toHaveLength(700);
    add(1);
    expect(await since(before)).toEqual({ exported: 700, dropped_at_stop: 1 });
  });
});

test.each([
  ["api-key=a%2Cb", { "api-key": "a,b" }],
  ["A=b, c=d=e", { a: "b", c: "d=e" }],
  ["no value", null],
  ["a=%zz", null],
  ["a=%0d%0ab", null],
  ["=b", null],
])("OTEL_EXPORTER_OTLP_HEADERS=%s is read as %j", (text, headers) => {
  expect(parseOtlpHeaders(text)).toEqual(headers);
});
