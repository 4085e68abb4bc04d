/** What another node does in the background of a test, over and over. */
import { setTimeout as sleep } from "node:timers/promises";

export interface Repeated {
  /** Whole rounds so far. */
  written: number;
  /** Stopped, or failed. */
  isOver: boolean;
  /** Rejects where a round failed. */
  stop(): Promise<void>;
}

const PAUSE_MS = 2;

/** `end` is called when it is stopped. */
export function repeated(round: (n: number) => Promise<unknown>, end: () => Promise<unknown>): Repeated {
  const load = { written: 0, isOver: false };
  let stopped = false;
  const work = (async () => {
    for (let n = 0; !stopped; n++) {
      await round(n);
      load.written++;
      await sleep(PAUSE_MS);
    }
  })().finally(() => {
    load.isOver = true;
  });
  work.catch(() => {});
  const stop = async () => {
    stopped = true;
    await work.finally(end);
  };
  return Object.assign(load, { stop });
}
