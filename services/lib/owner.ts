/**
 * For whom work runs: the company of a call, or the service itself; and how long it may still wait for concurrency limits. Both are
 * known from the call on (mixins/database.middleware.ts), so that no statement has to name them.
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** A company's id; undefined is the service itself. */
export type Owner = string | undefined;

/** All waits of a request together. */
export const MAX_REQUEST_WAIT_MS = 5_000;

/** Remaining waiting time of a request. It travels with the request's calls, as part of their meta. */
export interface WaitBudget {
  waitLeftMs?: number;
}

interface Work {
  owner: Owner;
  /** Undefined for work in the background, which waits without a limit of time. */
  budget: WaitBudget | undefined;
}

const running = new AsyncLocalStorage<Work>();

export const currentOwner = (): Owner => running.getStore()?.owner;
export const currentBudget = (): WaitBudget | undefined => running.getStore()?.budget;

/** Also what `work` starts and does not wait for counts as the owner's. */
export const asOwner = <T>(owner: Owner, work: () => T, budget = currentBudget()): T =>
  running.run({ owner, budget }, work);

/** For what serves many at once, or outlives the call in which it happens to begin. */
export const asService = <T>(work: () => T): T => running.run({ owner: undefined, budget: undefined }, work);
