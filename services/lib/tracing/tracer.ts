/**
 * Decides which spans this process records. Without OTEL_EXPORTER_OTLP_ENDPOINT there is no tracer.
 *
 * The decision is made at the start of a trace: a request, a batch, an email, or a webhook without an email. An
 * unrecorded trace adds no header to calls and events, so that later steps need no decision.
 *
 * A `traceparent` with the sampled flag requests recording. Anybody on the internet can send one with every request, so
 * the flag is honoured ten times per second; beyond that the ratio of OTEL_TRACES_SAMPLER_ARG applies, drawn at random
 * and not from the trace id, which the caller has chosen. A `traceparent` without the flag is never recorded.
 */
import { randomBytes } from "node:crypto";
import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanKind,
  type Tracer as Spans,
  trace,
} from "@opentelemetry/api";
import type { IdGenerator } from "@opentelemetry/sdk-trace-node";
import { activeSpan } from "./span.ts";
import { Allowance, contextOf, isChosen, isSampled, readTraceparent } from "./trace-context.ts";

const FLAGGED_PER_SECOND = 10;

export interface SpanStart {
  name: string;
  kind: SpanKind;
  /** Parent span; undefined starts a new trace. */
  parent?: SpanContext | undefined;
  /** Ids of the span, if they must not be random. */
  context?: SpanContext | undefined;
  /** Spans of other traces that caused this one. */
  links?: readonly (SpanContext | undefined)[];
  /**
   * Must not contain addresses, query strings, tokens, bodies or foreign servers' texts: more people read traces than
   * emails.
   */
  attributes?: Attributes;
  /** Start time by the monotonic clock (performance.now()). */
  startTime?: number;
}

let computed: SpanContext | undefined;

/** Random ids, except while `begin` starts a span whose ids are computed. */
export const idGenerator: IdGenerator = {
  generateTraceId: () => computed?.traceId ?? randomBytes(16).toString("hex"),
  generateSpanId: () => computed?.spanId ?? randomBytes(8).toString("hex"),
};

export class Tracer {
  readonly ratio: number;
  readonly #spans: Spans;
  readonly #flagged: Allowance;
  /** Campaigns whose request was recorded, so that their emails and webhooks are, too. */
  readonly #following: Allowance;

  /** `ratio`: share of the traces that begin here, from 0 (none, even if a caller requests it) to 1. */
  constructor(ratio: number, spans: Spans, flaggedPerSecond = FLAGGED_PER_SECOND) {
    this.ratio = ratio;
    this.#spans = spans;
    this.#flagged = new Allowance(flaggedPerSecond);
    this.#following = new Allowance(flaggedPerSecond);
  }

  begin({ name, parent, context, links = [], ...options }: SpanStart): Span {
    const below = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
    const linked = links.filter((link) => link !== undefined).map((link) => ({ context: link }));
    computed = context;
    try {
      return this.#spans.startSpan(name, { ...options, links: linked }, below);
    } finally {
      computed = undefined;
    }
  }

  /** Starts the span of an HTTP request by its `traceparent`; undefined if it is not recorded. */
  beginRequest(start: SpanStart, traceparent: unknown): Span | undefined {
    const given = readTraceparent(traceparent);
    const wanted = given ? isSampled(given) && this.#isFollowed(this.#flagged) : this.#isDrawn();
    return wanted ? this.begin({ ...start, parent: given }) : undefined;
  }

  /** True if a trace that starts here is recorded, possibly because its campaign's request was. */
  follows(campaignTrace: SpanContext | undefined): boolean {
    return campaignTrace ? this.#isFollowed(this.#following) : this.#isDrawn();
  }

  /**
   * The trace of an email, if it is recorded. All nodes decide the same, except for emails that are recorded only
   * because their campaign is.
   */
  mail(messageId: string, campaignTrace: SpanContext | undefined): SpanContext | undefined {
    const wanted = this.isChosen(messageId) || (campaignTrace !== undefined && this.#mayFollow(this.#following));
    return wanted ? contextOf(messageId) : undefined;
  }

  /** Decision for an id from which the trace is computed. */
  isChosen(id: string): boolean {
    return isChosen(id, this.ratio);
  }

  #isDrawn(): boolean {
    return Math.random() < this.ratio;
  }

  #mayFollow(allowance: Allowance): boolean {
    return this.ratio > 0 && allowance.take();
  }

  #isFollowed(allowance: Allowance): boolean {
    return this.#isDrawn() || this.#mayFollow(allowance);
  }
}

let current: Tracer | undefined;

/** Undefined: nothing is traced. */
export const tracer = (): Tracer | undefined => current;

export function setTracer(tracer: Tracer | undefined): void {
  current = tracer;
}

/** Starts a child of the current span; undefined if no span is recorded. */
export function beginPart(start: SpanStart): Span | undefined {
  const parent = current && activeSpan();
  return parent && current!.begin({ ...start, parent: parent.spanContext() });
}
