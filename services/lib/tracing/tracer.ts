/**
 * Which spans this process records. Without OTEL_EXPORTER_OTLP_ENDPOINT there is no tracer, and all that a request or a mail
 * pays is the look whether there is one.
 *
 * Whether a trace is recorded is decided where it begins: at a request, a batch, a mail, or a webhook about no mail. What is
 * not recorded leaves no mark on calls and events, so that all that follows knows without a decision of its own.
 *
 * A caller that sends `traceparent` with the sampled flag wants its trace recorded. Anybody on the internet may, and with every
 * request: the flag is followed ten times a second, which costs some 0.1 % of a core, and beyond that the share of
 * OTEL_TRACES_SAMPLER_ARG goes for it too, drawn by us and not by its trace id, which the caller has chosen. A caller
 * whose flag is not set has decided, too: nothing is recorded.
 */
import { activeSpan, Span, type SpanStart } from "./span.ts";
import { Allowance, contextOf, isChosen, readTraceparent, type SpanContext } from "./trace-context.ts";

const FLAGGED_PER_SECOND = 10;

export class Tracer {
  readonly ratio: number;
  readonly #record: (span: Span) => void;
  readonly #flagged: Allowance;
  /** Mails and webhooks of a campaign whose request was recorded. */
  readonly #following: Allowance;

  /** `ratio`: share of the traces that begin here, from 0 (none, whoever asks) to 1. `record` gets each span that has ended. */
  constructor(ratio: number, record: (span: Span) => void, flaggedPerSecond = FLAGGED_PER_SECOND) {
    this.ratio = ratio;
    this.#record = record;
    this.#flagged = new Allowance(flaggedPerSecond);
    this.#following = new Allowance(flaggedPerSecond);
  }

  begin(start: SpanStart): Span {
    return new Span(start, this.#record);
  }

  /** Of a request from outside, by its `traceparent`; undefined: not recorded. */
  beginRequest(start: SpanStart, traceparent: unknown): Span | undefined {
    const given = readTraceparent(traceparent);
    const wanted = given ? given.sampled && this.#isFollowed(this.#flagged) : this.#isDrawn();
    return wanted ? this.begin({ ...start, parent: given }) : undefined;
  }

  /** Whether something that begins here by itself is recorded, on behalf of a campaign whose request may have been. */
  follows(campaignTrace: SpanContext | undefined): boolean {
    return campaignTrace ? this.#isFollowed(this.#following) : this.#isDrawn();
  }

  /** The trace of a mail, where it is recorded: by all nodes alike, but for those that only follow their campaign. */
  mail(messageId: string, campaignTrace: SpanContext | undefined): SpanContext | undefined {
    const wanted = this.isChosen(messageId) || (campaignTrace !== undefined && this.#mayFollow(this.#following));
    return wanted ? contextOf(messageId) : undefined;
  }

  /** Of what has an id that a trace comes of. */
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

/** A part of what runs now; undefined where that is not recorded. */
export function beginPart(start: SpanStart): Span | undefined {
  const parent = current && activeSpan();
  return parent && current!.begin({ ...start, parent: parent.context });
}
