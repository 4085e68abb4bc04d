/**
 * Sets up OpenTelemetry's SDK to send spans to a collector in batches, without delaying any work: spans wait in bounded
 * memory, and during an outage of the collector they are dropped and counted. Loaded only if a collector is configured.
 */
import { context, trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  NodeTracerProvider,
  NoopSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { counter } from "../metrics.ts";
import { withTimeout } from "../timeouts.ts";
import { VERSION } from "../version.ts";
import { idGenerator, Tracer } from "./tracer.ts";

/** About 4 MB. */
const MAX_WAITING = 4_096;
const LINGER_MS = 2_000;
const ANSWER_MS = 5_000;
const FLUSH_MS = 2_000;
const MAX_TEXT = 256;

const spans = counter(
  "flockmail_trace_spans_total",
  "Ended, exported and failed spans. Others are queued or were dropped because the queue was full.",
  ["result"],
);

interface Log {
  info(text: string): void;
  warn(text: string): void;
}

class CountingProcessor extends NoopSpanProcessor {
  override onEnd(): void {
    spans.inc({ result: "ended" });
  }
}

/** Counts spans, and logs the start and end of collector outages, without its address, which error messages contain. */
class CountingExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #log: Log;
  #isAway = false;

  constructor(exporter: SpanExporter, log: Log) {
    this.#exporter = exporter;
    this.#log = log;
  }

  export(batch: ReadableSpan[], done: Parameters<SpanExporter["export"]>[1]): void {
    this.#exporter.export(batch, (result) => {
      const error = result.error as (Error & { code?: string | number }) | undefined;
      spans.inc({ result: error ? "failed" : "exported" }, batch.length);
      if (error && !this.#isAway) this.#log.warn(`Traces: the collector accepts nothing: ${error.code ?? error.name}`);
      if (!error && this.#isAway) this.#log.info("Traces: the collector is available again");
      this.#isAway = error !== undefined;
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}

interface Collector {
  /** Address that spans are posted to: …/v1/traces. */
  url: string;
  headers: Record<string, string>;
  resource: Record<string, string>;
}

interface TracerOptions {
  ratio: number;
  lingerMs?: number;
  flushMs?: number;
}

/** `close` sends the waiting spans, for at most two seconds. */
export interface OpenTracer {
  tracer: Tracer;
  close(): Promise<void>;
}

/** A tracer with these span processors. */
export function tracerTo(spanProcessors: SpanProcessor[], ratio: number, resource: Record<string, string> = {}) {
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes(resource),
    sampler: new AlwaysOnSampler(),
    spanLimits: { attributeValueLengthLimit: MAX_TEXT },
    idGenerator,
    spanProcessors,
  });
  // Keeps the active span across awaits. The trace is passed on in our own header (mixins/tracing.middleware.ts).
  provider.register({ propagator: null });
  return { provider, tracer: new Tracer(ratio, provider.getTracer("flockmail", VERSION)) };
}

export function openTracer({ url, headers, resource }: Collector, log: Log, options: TracerOptions): OpenTracer {
  const { ratio, lingerMs = LINGER_MS, flushMs = FLUSH_MS } = options;
  const exporter = new CountingExporter(new OTLPTraceExporter({ url, headers, timeoutMillis: ANSWER_MS }), log);
  const batches = new BatchSpanProcessor(exporter, { maxQueueSize: MAX_WAITING, scheduledDelayMillis: lingerMs });
  const { provider, tracer } = tracerTo([new CountingProcessor(), batches], ratio, resource);
  return {
    tracer,
    async close() {
      trace.disable();
      context.disable();
      await withTimeout(provider.shutdown(), flushMs, () => new Error("late")).catch(() => {});
    },
  };
}
