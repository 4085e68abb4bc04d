/** The span that runs now, and how one fails. Without a collector none ever runs: OpenTelemetry's API does nothing then. */
import { context, type Span, SpanStatusCode, trace } from "@opentelemetry/api";
import { traceparentOf } from "./trace-context.ts";

/** Timers and loops that were begun in a span outlive it: what they do later is not part of it. */
export function activeSpan(): Span | undefined {
  const span = trace.getActiveSpan();
  return span?.isRecording() ? span : undefined;
}

/** The header of the span that runs now; undefined where none does. */
export function activeTraceparent(): string | undefined {
  const span = activeSpan();
  return span && traceparentOf(span.spanContext());
}

/** The fields of a log entry, in the names that log collectors look for. */
export function activeIds(): { trace_id?: string; span_id?: string } {
  const { traceId: trace_id, spanId: span_id } = activeSpan()?.spanContext() ?? {};
  return trace_id && span_id ? { trace_id, span_id } : {};
}

/** `reason`: a word, never a message, which may quote anybody. */
export function fail(span: Span, reason: string): void {
  span.setAttribute("error.type", reason).setStatus({ code: SpanStatusCode.ERROR });
}

const errorType = (error: unknown): string => {
  const { type, code, name } = (error ?? {}) as { type?: unknown; code?: unknown; name?: unknown };
  const word = [type, code, name].find((one) => typeof one === "string" && /^[\w.]{1,64}$/.test(one));
  return String(word ?? "Error");
};

/** Ends with the work, and names the kind of error it threw. */
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
