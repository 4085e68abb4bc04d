/** Collects ended spans of this process, in place of a collector. */
import { type Attributes, SpanKind } from "@opentelemetry/api";
import { type ReadableSpan, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { tracerTo } from "../../services/lib/tracing/open-tracer.ts";
import { Tracer } from "../../services/lib/tracing/tracer.ts";

export interface EndedSpan {
  name: string;
  kind: string;
  traceId: string;
  spanId: string;
  parentId: string | undefined;
  attributes: Attributes;
}

const seen = (span: ReadableSpan): EndedSpan => ({
  name: span.name,
  kind: SpanKind[span.kind]!.toLowerCase(),
  traceId: span.spanContext().traceId,
  spanId: span.spanContext().spanId,
  parentId: span.parentSpanContext?.spanId,
  attributes: span.attributes,
});

/** `perSecond` limits how often a caller's sampling flag is followed. */
export function recordingTracer(ratio: number, perSecond?: number): { ended: EndedSpan[]; tracer: Tracer } {
  const ended: EndedSpan[] = [];
  const exporter = {
    export(spans: ReadableSpan[], done: (result: { code: number }) => void) {
      ended.push(...spans.map(seen));
      done({ code: 0 });
    },
    shutdown: async () => {},
  };
  const { provider } = tracerTo([new SimpleSpanProcessor(exporter)], ratio);
  return { ended, tracer: new Tracer(ratio, provider.getTracer("test"), perSecond) };
}
