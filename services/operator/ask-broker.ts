/** How a command calls an action: by name, on behalf of a company where it needs one. */
import type { ServiceBroker } from "moleculer";
import type { ActionOf, ParamsOf, ReturnsOf } from "../contracts.ts";
import type { Caller } from "../lib/caller.ts";

export type Ask = <A extends ActionOf>(action: A, params: ParamsOf<A>, as?: Caller) => Promise<ReturnsOf<A>>;

/** No service could be asked. */
export class NotReached extends Error {}

export const ANSWER_MS = 30_000;

export const askBroker =
  (broker: ServiceBroker): Ask =>
  (action, params, as = {}) =>
    broker.call(action, params, { meta: as, timeout: ANSWER_MS });
