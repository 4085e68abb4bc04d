import { SpanKind } from "@opentelemetry/api";
import { ServiceBroker } from "moleculer";
import { callIds, logger } from "../../../mixins/logging.middleware.ts";
import { tracing } from "../../../mixins/tracing.middleware.ts";
import { readConfig } from "../../../services/lib/config.ts";
import { runIn } from "../../../services/lib/tracing/span.ts";
import { tracer } from "../../../services/lib/tracing/tracer.ts";
import { type Collector, startCollector } from "../../support/otlp-collector.ts";

const env = { DATABASE_URL: "postgres://x/y", SECRET_KEY: "0123456789abcdef" };

test("a service without a collector has no hook, and no call is traced", () => {
  expect(tracing(readConfig(env))).toEqual({ name: "Tracing" });
  expect(tracer()).toBeUndefined();
});

describe("calls and events of a recorded trace", () => {
  const lines: Record<string, unknown>[] = [];
  const seen: { name: string; meta: object }[] = [];
  let collector: Collector;
  let broker: ServiceBroker;
  let loop: () => Promise<unknown>;
  beforeAll(async () => {
    collector = await startCollector();
    const settings = readConfig({
      ...env,
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
      OTEL_TRACES_SAMPLER_ARG: "1",
    });
    const base = logger(settings) as { type: "Pino"; options: { pino: object } };
    const destination = { write: (line: string) => lines.push(JSON.parse(line)) };
    broker = new ServiceBroker({
      logger: { ...base, options: { ...base.options, pino: { ...base.options.pino, destination } } } as never,
      middlewares: [callIds, tracing(settings)],
    });
    broker.createService({
      name: "outer",
      actions: {
        async send(ctx) {
          seen.push({ name: "send", meta: ctx.meta });
          await ctx.call("inner.deliver", { email: "ann@example.com" }, { meta: { companyId: "k2" } });
          await ctx.emit("sent.some", {});
          seen.push({ name: "after", meta: ctx.meta });
        },
        fail: () => Promise.reject(Object.assign(new Error("to ann@example.com"), { code: "SMTP_AWAY" })),
        begin(ctx) {
          loop = () => ctx.call("inner.deliver", {});
        },
      },
    });
    broker.createService({
      name: "inner",
      actions: {
        deliver(this: { logger: { info(text: string): void } }) {
          this.logger.info("delivering");
        },
      },
      events: { "sent.*"() {} },
    });
    await broker.start();
  });
  afterAll(async () => {
    await broker.stop();
    await collector.stop();
  });

  const request = (name: string, action: string) =>
    runIn(tracer()!.begin({ name, kind: SpanKind.SERVER }), () =>
      broker.call(action, {}, { meta: { companyId: "k1" } }),
    );

  test("are its spans, each below the one that made it, in their order and with their company", async () => {
    await request("first", "outer.send");
    const spans = (await collector.until((all) => all.some(({ name }) => name === "first"))).slice(-4);
    const [deliver, sent, send, first] = spans;
    expect(spans.map(({ name, kind, parentId }) => [name, kind, parentId])).toEqual([
      ["inner.deliver", "server", send!.spanId],
      ["sent.some", "consumer", send!.spanId],
      ["outer.send", "server", first!.spanId],
      ["first", "server", undefined],
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect([deliver, sent, send].map((span) => span!.attributes["flockmail.company_id"])).toEqual(["k2", "k2", "k1"]);
    expect(first!.resource).toMatchObject({ "service.name": "flockmail", "service.instance.id": broker.nodeID });
  });

  test("leave no trace in meta, which would be returned and passed on", () => {
    expect(seen.map(({ name }) => name)).toEqual(["send", "after"]);
    expect(JSON.stringify(seen)).not.toContain("traceparent");
  });

  test("are named in log entries by trace_id and span_id", async () => {
    const deliver = collector.spans().find(({ name }) => name === "inner.deliver")!;
    expect(lines.find(({ msg }) => msg === "delivering")).toMatchObject({
      trace_id: deliver.traceId,
      span_id: deliver.spanId,
    });
  });

  test("contain of an error its kind and never its message", async () => {
    await expect(request("failing", "outer.fail")).rejects.toThrow("ann@");
    const spans = await collector.until((all) => all.some(({ name }) => name === "failing"));
    expect(spans.find(({ name }) => name === "outer.fail")).toMatchObject({
      failed: true,
      attributes: { "error.type": "SMTP_AWAY" },
    });
    expect(collector.text()).not.toContain("ann@");
  });

  test("end with it: work that continues later is not part of the trace, nor is work without one", async () => {
    await request("beginning", "outer.begin");
    lines.length = 0;
    await loop();
    await broker.call("inner.deliver", {});
    expect(lines.filter(({ msg }) => msg === "delivering")).toHaveLength(2);
    expect(lines.filter((line) => "trace_id" in line)).toEqual([]);
  });
});
