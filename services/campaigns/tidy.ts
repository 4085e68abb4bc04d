import type { ServiceBroker } from "moleculer";
import { sweepMedia } from "./media/remove.ts";
import { recountStuck } from "./recount.ts";
import { forgetOldKeys } from "./send/idempotency.ts";

/** What time has made useless or left lying, of all companies; harmless to do on several nodes at once. */
export async function tidy(broker: ServiceBroker): Promise<number> {
  return (await forgetOldKeys()) + (await sweepMedia()) + (await recountStuck(broker));
}
