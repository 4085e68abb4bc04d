/**
 * Accesses the active span and marks failures. Without a collector there is none: OpenTelemetry's API then does
 * nothing.
 */
import { context, type Span, SpanStatusCode, trace } from "@opentelemetry/api";
import { traceparentOf } from "./trace-context.ts";

/** Timers and loops started in a span outlive it; their later work is not part of it. */
export function activeSpan(): Span | undefined {
  const span = trace.getActiveSpan();
  return span?.isRecording() ? span : undefined;
}

/** Traceparent of the active span; undefined if there is none. */
export function activeTraceparent(): string | undefined {
  const span = activeSpan();
  return span && traceparentOf(span.spanContext());
}

/** Fields of a log entry, with the names that log collectors expect. */
export function activeIds(): { trace_id?: string; span_id?: string } {
  const { traceId: trace_id, spanId: span_id } = activeSpan()?.spanContext() ?? {};
  return trace_id && span_id ? { trace_id, span_id } : {};
}

/** `reason`: a word, never a message, which may contain personal data. */
export function fail(span: Span, reason: string): void {
  span.setAttribute("error.type", reason).setStatus({ code: SpanStatusCode.ERROR });
}

const errorType = (error: unknown): string => {
  const { type, code, name } = (error ?? {}) as { type?: unknown; code?: unknown; name?: unknown };
  const word = [type, code, name].find((one) => typeof one === "string" && /^[\w.]{1,64}$/.test(one));
  return String(word ?? "Error");
};

/** Ends with the work, and records the kind of its error. */
export async function runIn<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await context.with(trace.setSpan(context.active(), span), work);
  } catch (error) {
    fail(span, errorType(error));
    throw error;
  } finally {
    span.end();
  }
}
