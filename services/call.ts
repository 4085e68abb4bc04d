/** Typed calls and events between services: the contract's types, a time-out on each call. */
import type { CallingOptions } from "moleculer";
import type { ActionOf, ParamsOf, ReturnsOf } from "./contracts.ts";
import type { Caller } from "./define.ts";
import type { EventName, EventPayload } from "./events.ts";

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

/** Rings one node of each service that listens. */
export const ring = <E extends EventName>(from: CanEmit, event: E, payload: EventPayload<E>) =>
  from.emit(event, payload);

/** Rings every node that listens. */
export const ringAll = <E extends EventName>(from: CanEmit, event: E, payload: EventPayload<E>) =>
  from.broadcast(event, payload);
