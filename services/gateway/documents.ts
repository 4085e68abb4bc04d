/** What the gateway answers by itself: the description of the API, for machines and for people. */
import type { AppOptions } from "./app.ts";
import type { Exchange } from "./exchange.ts";

type Documents = [path: string, handler: (exchange: Exchange) => Promise<void> | void][];

export function documents(_options: AppOptions): Documents {
  return [];
}
