/** Calls an action for an operator command: by name, and on behalf of a company if the action needs one. */
import type { ServiceBroker } from "moleculer";
import type { ActionOf, ParamsOf, ReturnsOf } from "../contracts.ts";
import type { Caller } from "../lib/caller.ts";

export type Ask = <A extends ActionOf>(action: A, params: ParamsOf<A>, as?: Caller) => Promise<ReturnsOf<A>>;

/** Thrown when no running service could be reached. */
export class NotReached extends Error {}

export const ANSWER_MS = 30_000;

export const askBroker =
  (broker: ServiceBroker): Ask =>
  (action, params, as = {}) =>
    broker.call(action, params, { meta: as, timeout: ANSWER_MS });
