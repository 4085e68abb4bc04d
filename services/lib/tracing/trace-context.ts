/** Defines ids of spans, their transport (W3C Trace Context, level 1), and which traces are recorded. Pure. */
import { type SpanContext, TraceFlags } from "@opentelemetry/api";
import { isUuid } from "../ids.ts";

const HEADER = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const NO_ID = /^0+$/;
/** A header of a later version may be longer than ours, and never needs to be as long as this. */
const MAX_LENGTH = 256;

export const isSampled = ({ traceFlags }: SpanContext): boolean => (traceFlags & TraceFlags.SAMPLED) !== 0;

/** Undefined for an invalid header, which counts as none. */
export function readTraceparent(header: unknown): SpanContext | undefined {
  if (typeof header !== "string" || header.length > MAX_LENGTH) return undefined;
  const [, version, traceId, spanId, flags, rest] = HEADER.exec(header) ?? [];
  if (!version || version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (NO_ID.test(traceId!) || NO_ID.test(spanId!)) return undefined;
  return { traceId: traceId!, spanId: spanId!, traceFlags: Number.parseInt(flags!, 16), isRemote: true };
}

export const traceparentOf = ({ traceId, spanId }: SpanContext): string => `00-${traceId}-${spanId}-01`;

/**
 * Computes the trace of an email and the span of its first transaction from its Message-ID, so that a retrying sender,
 * its webhooks and an operator know the trace without storing it. `id`: the part before the "@"
 * (models/statements/mail-key.ts), 16 bytes in base64url or a UUID.
 */
export function contextOf(id: string): SpanContext {
  const traceId = isUuid(id)
    ? id.replaceAll("-", "").toLowerCase()
    : Buffer.from(id, "base64url").toString("hex").padEnd(32, "0").slice(0, 32);
  return { traceId, spanId: traceId.slice(0, 16), traceFlags: TraceFlags.SAMPLED };
}

/** True if the trace of this id is sampled, decided by its 13th to 15th byte: equally on every node. */
export const isChosen = (id: string, ratio: number): boolean =>
  Number.parseInt(contextOf(id).traceId.slice(24, 30), 16) < ratio * 0x100_0000;

/** Allows a maximum number per second. */
export class Allowance {
  readonly #perSecond: number;
  #second = 0;
  #taken = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  take(nowMs = performance.now()): boolean {
    const second = Math.floor(nowMs / 1_000);
    if (second !== this.#second) this.#taken = 0;
    this.#second = second;
    return this.#taken++ < this.#perSecond;
  }
}
