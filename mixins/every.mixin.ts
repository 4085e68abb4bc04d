/**
 * Repeats an action of the service: through the broker, so that each run has a context and metrics, and a test can call
 * it. Runs never overlap within a node, however long one takes; the pause counts from the end of a run. A failed run is
 * logged and the next one comes as usual.
 *
 * The action is protected: what a node repeats by itself nobody starts on it from elsewhere.
 */
import type { Service, ServiceSchema } from "moleculer";

// The broker's request time-out would end the wait and not the run, and the next one would start beside it. What a run
// waits for (statements, calls to other services) has time-outs of its own.
const NO_TIMEOUT = { timeout: 0 };
const LONG_RUN_MS = 60_000;

interface Repetition {
  timer?: NodeJS.Timeout;
  run?: Promise<void>;
  stopped: boolean;
}

type Repeating = Service & { repetitions: Map<string, Repetition> };

async function runOnce(service: Service, name: string): Promise<void> {
  const warning = setTimeout(() => service.logger.warn(`${name} has been running for a minute`), LONG_RUN_MS).unref();
  try {
    await service.broker.call(name, {}, NO_TIMEOUT);
  } catch (error) {
    service.logger.error(`${name} failed: ${(error as Error).message}`);
  } finally {
    clearTimeout(warning);
  }
}

export function every(pauseMs: number, action: string): Partial<ServiceSchema> {
  return {
    actions: { [action]: { visibility: "protected" } },

    created(this: Repeating) {
      this.repetitions ??= new Map();
    },

    started(this: Repeating) {
      const repetition: Repetition = { stopped: false };
      this.repetitions.set(action, repetition);
      const next = () => {
        if (repetition.stopped) return;
        repetition.timer = setTimeout(() => {
          // Where another part of the node cannot start, nothing here is registered, and never will be.
          if (!this.broker.started) return next();
          repetition.run = runOnce(this, `${this.name}.${action}`).then(next);
        }, pauseMs);
      };
      next();
    },

    async stopped(this: Repeating) {
      const repetition = this.repetitions.get(action);
      if (!repetition) return;
      repetition.stopped = true;
      clearTimeout(repetition.timer);
      await repetition.run;
    },
  } as unknown as Partial<ServiceSchema>;
}
