/**
 * For whom a statement runs: the company of the call, or the service itself. Known from the call on
 * (mixins/database.middleware.ts), so that no statement has to say it; the pools share their connections out by it.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Owner } from "../../services/lib/turns.ts";

const running = new AsyncLocalStorage<Owner>();

export const currentOwner = (): Owner => running.getStore();

/** Also what `work` starts and does not wait for counts as the owner's. */
export const asOwner = <T>(owner: Owner, work: () => T): T => running.run(owner, work);

/** For what serves many at once, or outlives the call in which it happens to begin. */
export const asService = <T>(work: () => T): T => running.run(undefined, work);
