/**
 * Repeats an action of the service: through the broker, so that each run has a context, a time-out and metrics, and a
 * test can call it. Runs never overlap within a node; the pause counts from the end of a run. A failed run is logged
 * and the next one comes as usual.
 */
import type { Service, ServiceSchema } from "moleculer";

const running = new WeakMap<
  Service,
  Map<string, { timer?: NodeJS.Timeout; run?: Promise<unknown>; stopped: boolean }>
>();

export function every(pauseMs: number, action: string): Partial<ServiceSchema> {
  return {
    started(this: Service) {
      const state: { timer?: NodeJS.Timeout; run?: Promise<unknown>; stopped: boolean } = { stopped: false };
      const all = running.get(this) ?? new Map();
      running.set(this, all.set(action, state));
      const next = () => {
        if (state.stopped) return;
        state.timer = setTimeout(() => {
          state.run = this.broker
            .call(`${this.name}.${action}`)
            .catch((error: Error) => this.logger.error(`${this.name}.${action} failed: ${error.message}`))
            .finally(next);
        }, pauseMs);
      };
      next();
    },

    async stopped(this: Service) {
      const state = running.get(this)?.get(action);
      if (!state) return;
      state.stopped = true;
      clearTimeout(state.timer);
      await state.run;
    },
  } as Partial<ServiceSchema>;
}
