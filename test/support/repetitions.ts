/** What a node repeats by itself (mixins/every.mixin.ts), where a test looks at what nobody else may do meanwhile. */
import type { Service, ServiceBroker } from "moleculer";

interface Repetition {
  stopped: boolean;
  cancel?: () => void;
  run?: Promise<void>;
}

/** By their actions. */
export type Repeating = Service & { repetitions?: Map<string, Repetition> };

/** All, or those of one action. Each ends with its run, if one is under way. */
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
