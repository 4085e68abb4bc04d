/** A trace over two nodes, with a real NATS between them. */
import { SpanKind } from "@opentelemetry/api";
import { ServiceBroker } from "moleculer";
import { tracing } from "../../../mixins/tracing.middleware.ts";
import { readConfig } from "../../../services/lib/config.ts";
import { runIn } from "../../../services/lib/tracing/span.ts";
import { tracer } from "../../../services/lib/tracing/tracer.ts";
import { type Collector, startCollector } from "../../support/otlp-collector.ts";
import { type Server, startNats } from "../../support/servers.ts";

describe("a trace over NATS", () => {
  let nats: Server;
  let collector: Collector;
  const brokers: ServiceBroker[] = [];
  beforeAll(async () => {
    [nats, collector] = await Promise.all([startNats(), startCollector()]);
    const settings = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: "1" });
    const namespace = `traces-${process.pid}`;
    for (const nodeID of ["near", "far"]) {
      const options = { namespace, nodeID, transporter: nats.url, logger: false, serializer: "JSONExt" };
      brokers.push(new ServiceBroker({ ...options, middlewares: [tracing(settings)] } as never));
    }
    brokers[1]!.createService({ name: "far", actions: { work: () => "done" }, events: { "work.done"() {} } });
    for (const broker of brokers) await broker.start();
    await brokers[0]!.waitForServices("far");
  });
  afterAll(async () => {
    for (const broker of brokers) await broker.stop();
    await Promise.all([nats?.stop(), collector?.stop()]);
  });

  test("has the span of an action or event on another node as a child of the caller's span", async () => {
    const span = tracer()!.begin({ name: "here", kind: SpanKind.INTERNAL });
    await runIn(span, async () => {
      await brokers[0]!.call("far.work");
      await brokers[0]!.emit("work.done", {});
    });
    const spans = await collector.until((all) =>
      ["far.work", "work.done"].every((n) => all.some(({ name }) => name === n)),
    );
    for (const name of ["far.work", "work.done"]) {
      expect(spans.find((one) => one.name === name)).toMatchObject({
        traceId: span.spanContext().traceId,
        parentId: span.spanContext().spanId,
      });
    }
  });
});
