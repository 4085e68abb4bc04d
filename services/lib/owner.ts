/**
 * Tracks for whom work runs (the company of a call, or the service itself) and how long it may still wait for
 * concurrency limits. Set once per call (mixins/database.middleware.ts), so that statements need not name it.
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** A company's id; undefined for the service itself. */
export type Owner = string | undefined;

/** Maximum of all waits of a request together. */
export const MAX_REQUEST_WAIT_MS = 5_000;

/** Remaining waiting time of a request, passed on with its calls in their meta. */
export interface WaitBudget {
  waitLeftMs?: number;
}

interface Work {
  owner: Owner;
  /** Undefined for background work, which waits without limit. */
  budget: WaitBudget | undefined;
}

const running = new AsyncLocalStorage<Work>();

export const currentOwner = (): Owner => running.getStore()?.owner;
export const currentBudget = (): WaitBudget | undefined => running.getStore()?.budget;

/** Runs `work` for the owner, including work that it starts without waiting for it. */
export const asOwner = <T>(owner: Owner, work: () => T, budget = currentBudget()): T =>
  running.run({ owner, budget }, work);

/** Runs work that serves many callers, or outlives the call that starts it, as the service. */
export const asService = <T>(work: () => T): T => running.run({ owner: undefined, budget: undefined }, work);
