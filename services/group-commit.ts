/**
 * Group commit: what arrives while one batch is being stored goes together into the next one. Whoever adds an item gets
 * an answer when it is stored, not before; a commit that takes longer makes batches larger, not answers rarer.
 */
import { unavailable } from "./errors.ts";

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

export interface GroupCommit<Item, Result> {
  add(item: Item): Promise<Result>;
  /** Resolves when nothing waits and nothing is in the air. */
  idle(): Promise<void>;
}

/** `store` gets at most `maxBatch` items and returns one result for each, in order. */
export function groupCommit<Item, Result>(
  store: (items: Item[]) => Promise<Result[]>,
  { maxBatch, maxWaiting }: { maxBatch: number; maxWaiting: number },
): GroupCommit<Item, Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let inTheAir: Promise<void> | undefined;

  async function storeBatch(batch: Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await store(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, at) => {
        resolve(results[at]!);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async function drain(): Promise<void> {
    // One turn of the event loop, so that requests which arrived together share the first batch too.
    await new Promise(setImmediate);
    while (waiting.length > 0) await storeBatch(waiting.splice(0, maxBatch));
    inTheAir = undefined;
  }

  return {
    add(item) {
      if (waiting.length >= maxWaiting) return Promise.reject(unavailable());
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        inTheAir ??= drain();
      });
    },
    idle: async () => {
      await inTheAir;
    },
  };
}
