/** Typed calls and events between services: the contract's types, a time-out on each call. */
import type { CallingOptions } from "moleculer";
import type { ActionOf, ParamsOf, ReturnsOf } from "./contracts.ts";
import type { EventName, EventPayload } from "./events.ts";
import type { Caller } from "./lib/caller.ts";

interface CanCall {
  call(action: string, params?: unknown, options?: CallingOptions): Promise<unknown>;
}
interface CanEmit {
  emit(event: string, payload: unknown): Promise<unknown>;
  broadcast(event: string, payload: unknown): Promise<unknown>;
}

/** Calls an action; `from` is a context (keeps the caller's identity and request id) or the broker. */
export function call<A extends ActionOf>(
  from: CanCall,
  action: A,
  params: ParamsOf<A>,
  options: CallingOptions & { meta?: Caller } = {},
): Promise<ReturnsOf<A>> {
  return from.call(action, params, options) as Promise<ReturnsOf<A>>;
}

/** Emits an event to one node of each service that listens. */
export const emit = <E extends EventName>(from: CanEmit, event: E, payload: EventPayload<E>) =>
  from.emit(event, payload);

/** Emits an event to every node that listens. */
export const broadcast = <E extends EventName>(from: CanEmit, event: E, payload: EventPayload<E>) =>
  from.broadcast(event, payload);

/**
 * Emits without waiting: within one process the listener's whole work would be awaited. A lost event costs one poll.
 */
export function emitAndForget<E extends EventName>(from: CanEmit, event: E, payload: EventPayload<E>): void {
  emit(from, event, payload).catch(() => {});
}

/**
 * Notifies the webhooks service of rows that were queued for these companies. A lost event costs two seconds: it polls. All at
 * once: within one process an event ends when what it says is claimed, and the claims for a thousand companies are then a few
 * statements instead of a thousand.
 */
export async function emitWebhookQueued(from: CanEmit, companyIds: Iterable<string>): Promise<void> {
  await Promise.all(Array.from(new Set(companyIds), (companyId) => emit(from, "webhook.queued", { companyId })));
}
