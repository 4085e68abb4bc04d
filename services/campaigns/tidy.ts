import { forgetOldKeys } from "./idempotency.ts";
import { sweepMedia } from "./media/remove.ts";

/** What time has made useless, of all companies; harmless to do on several nodes at once. */
export async function tidy(): Promise<number> {
  return (await forgetOldKeys()) + (await sweepMedia());
}
