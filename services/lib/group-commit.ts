/**
 * Groups commits: items that arrive while a batch is being stored form the next one. `add` resolves once its item is
 * stored; slower commits make larger batches, not lower throughput.
 */
import { unavailable } from "./errors.ts";

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

export interface GroupCommit<Item, Result> {
  add(item: Item): Promise<Result>;
  /** Resolves when everything is stored. */
  idle(): Promise<void>;
}

interface Options {
  maxBatch: number;
  maxWaiting: number;
  /** Batches stored concurrently: with two, this process works while the store does. */
  atOnce?: number;
  /** True for an error that a single item may cause: the batch is stored again in halves. */
  isItemError?: (error: unknown) => boolean;
}

/** `store` gets at most `maxBatch` items and returns one result each, in order. It stores all of them or none. */
export function groupCommit<Item, Result>(
  store: (items: Item[]) => Promise<Result[]>,
  { maxBatch, maxWaiting, atOnce = 1, isItemError = () => false }: Options,
): GroupCommit<Item, Result> {
  const waiting: Waiting<Item, Result>[] = [];
  const inFlight = new Set<Promise<void>>();
  let running = 0;
  /** A drain is about to take all waiting items. */
  let gathering = false;

  async function storeBatch(batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await store(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, at) => {
        resolve(results[at]!);
      });
    } catch (error) {
      if (batch.length > 1 && isItemError(error)) {
        const half = batch.length >> 1;
        await storeBatch(batch.slice(0, half));
        await storeBatch(batch.slice(half));
      } else {
        for (const { reject } of batch) reject(error);
      }
    }
  }

  async function drain(): Promise<void> {
    running++;
    do {
      gathering = true;
      // Items that arrive in the same pass of the event loop share a batch.
      await new Promise(setImmediate);
      gathering = false;
      if (waiting.length > 0) await storeBatch(waiting.splice(0, maxBatch));
    } while (waiting.length > 0);
    running--;
  }

  function start(): void {
    const run = drain().finally(() => inFlight.delete(run));
    inFlight.add(run);
  }

  return {
    add(item) {
      if (waiting.length >= maxWaiting) return Promise.reject(unavailable());
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        if (!gathering && running < atOnce) start();
      });
    },
    async idle() {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}
