/**
 * What was found out of a request before Koa saw it, where it is left to Koa after all: its answer says the same, and is measured
 * from the same moment.
 */
import type { IncomingMessage } from "node:http";
import type { Span } from "@opentelemetry/api";

export interface Arrival {
  startedMs: number;
  requestId: string;
  /** Undefined: it was decided that nothing is recorded of it. */
  span?: Span | undefined;
  /** What it is answered with, by the route that it was for: no handler sees it. */
  failed?: { route: string; error: unknown };
}

const arrivals = new WeakMap<IncomingMessage, Arrival>();

export const arrivalOf = (request: IncomingMessage): Arrival | undefined => arrivals.get(request);

export const noteArrival = (request: IncomingMessage, arrival: Arrival): void => void arrivals.set(request, arrival);
