/** A span while it lasts, and the one that what runs now belongs to. */
import { AsyncLocalStorage } from "node:async_hooks";
import { newSpanId, newTraceId, type SpanContext, traceparentOf } from "./trace-context.ts";

/**
 * Never an address, a query string, a token, a body, or words of somebody else's server: traces are read by more people than
 * mails are.
 */
export type Attributes = Record<string, string | number | boolean | null | undefined>;

export type SpanKind = "internal" | "server" | "client" | "producer" | "consumer";

/** What is known at its begin. */
export interface SpanStart {
  name: string;
  kind: SpanKind;
  /** Where it belongs; undefined: a trace of its own. */
  parent?: SpanContext | undefined;
  /** Of a span whose ids are computed. */
  context?: SpanContext | undefined;
  /** Spans of other traces that brought it about. */
  links?: readonly (SpanContext | undefined)[];
  attributes?: Attributes;
  /** By the monotonic clock (performance.now()); undefined: now. */
  startedAtMs?: number;
}

export class Span {
  name: string;
  readonly kind: SpanKind;
  readonly context: SpanContext;
  readonly parentId: string | undefined;
  readonly links: readonly SpanContext[];
  readonly attributes: Attributes;
  readonly startedAtMs: number;
  endedAtMs: number | undefined;
  /** Undefined: nothing failed. Else a word for it, never a message. */
  error: string | undefined;
  readonly #ended: (span: Span) => void;

  constructor(start: SpanStart, ended: (span: Span) => void) {
    const { name, kind, parent, context, links = [], attributes = {}, startedAtMs = performance.now() } = start;
    this.name = name;
    this.kind = kind;
    this.context = context ?? { traceId: parent?.traceId ?? newTraceId(), spanId: newSpanId() };
    this.parentId = parent?.spanId;
    this.links = links.filter((link) => link !== undefined);
    this.attributes = { ...attributes };
    this.startedAtMs = startedAtMs;
    this.#ended = ended;
  }

  set(attributes: Attributes): void {
    Object.assign(this.attributes, attributes);
  }

  fail(reason: string): void {
    this.error = reason;
  }

  /** Once; what comes after it changes nothing. */
  end(): void {
    if (this.endedAtMs !== undefined) return;
    this.endedAtMs = performance.now();
    this.#ended(this);
  }
}

const running = new AsyncLocalStorage<Span>();

/** Timers and loops that were begun in a span outlive it: what they do later is not part of it. */
export function activeSpan(): Span | undefined {
  const span = running.getStore();
  return span?.endedAtMs === undefined ? span : undefined;
}

/** The header of the span that runs now; undefined where none does. */
export function activeTraceparent(): string | undefined {
  const span = activeSpan();
  return span && traceparentOf(span.context);
}

/** What a log entry says of it, in the names that log collectors look for. */
export function activeIds(): { trace_id?: string; span_id?: string } {
  const span = activeSpan();
  return span ? { trace_id: span.context.traceId, span_id: span.context.spanId } : {};
}

const errorType = (error: unknown): string => {
  const { type, code, name } = (error ?? {}) as { type?: unknown; code?: unknown; name?: unknown };
  const word = [type, code, name].find((one) => typeof one === "string" && /^[\w.]{1,64}$/.test(one));
  return String(word ?? "Error");
};

/** Ends with the work, and says what kind of error it threw. */
export async function runIn<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await running.run(span, work);
  } catch (error) {
    span.fail(errorType(error));
    throw error;
  } finally {
    span.end();
  }
}
