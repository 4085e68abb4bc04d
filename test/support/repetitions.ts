/** Stops periodic work of nodes (mixins/every.mixin.ts) that would disturb a test. */
import type { Service, ServiceBroker } from "moleculer";

interface Repetition {
  stopped: boolean;
  cancel?: () => void;
  run?: Promise<void>;
}

/** Counts by action. */
export type Repeating = Service & { repetitions?: Map<string, Repetition> };

/** Stops all, or those of one action, after the current run. */
export async function stopRepetitions(broker: ServiceBroker, only?: string): Promise<void> {
  for (const { repetitions } of broker.services as Repeating[]) {
    for (const [action, repetition] of repetitions ?? []) {
      if (only !== undefined && action !== only) continue;
      repetition.stopped = true;
      repetition.cancel?.();
      await repetition.run;
    }
  }
}
