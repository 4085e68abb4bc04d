/**
 * Broker middleware, for processes of their own: once the start is over, what only the start needed is put away. What was
 * compiled is written where NODE_COMPILE_CACHE says (a process that is killed would leave nothing for the next), and memory
 * that was used to load and compile goes back to the system: V8 keeps it until it has much to do, which an idle process has not.
 */
import { flushCompileCache } from "node:module";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Middleware } from "moleculer";

/** The first requests and the first round of repeated work come before it. */
const AFTER_MS = 5_000;

type CollectGarbage = (options: { type: "major"; execution: "async"; flavor: "last-resort" }) => Promise<void>;

async function putAway(): Promise<void> {
  flushCompileCache();
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as CollectGarbage;
  setFlagsFromString("--no-expose-gc");
  await collectGarbage({ type: "major", execution: "async", flavor: "last-resort" });
}

export function afterStart(): Middleware {
  let timer: NodeJS.Timeout | undefined;
  return {
    name: "AfterStart",
    started() {
      timer = setTimeout(() => void putAway(), AFTER_MS).unref();
    },
    stopping() {
      clearTimeout(timer);
    },
  } as unknown as Middleware;
}
