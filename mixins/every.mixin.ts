/**
 * Repeats an action of the service through the broker, so that each run has a context and metrics, and a test can call
 * it. Runs never overlap within a node; the pause counts from the end of a run. A failed run is logged, and the next
 * one follows as usual. While runs find nothing to do, the pause may grow, so that an idle process queries the database
 * less often.
 *
 * The action is protected: other nodes cannot start it.
 */
import type { Service, ServiceSchema } from "moleculer";

// No time-out: it would end the wait but not the run, and the next run would start in parallel. The statements and
// calls of a run have their own time-outs.
const NO_TIMEOUT = { timeout: 0 };
const WARN_AFTER_MS = 60_000;
/**
 * Long intervals start at random offsets; otherwise every run in every pod would open a database connection at the same
 * time.
 */
const SPREAD_FROM_MS = 60_000;

interface Repetition {
  /** Ends the wait for the next run. */
  cancel?: () => void;
  run?: Promise<void>;
  stopped: boolean;
}

type Repeating = Service & { repetitions: Map<string, Repetition> };

interface RepeatOptions {
  /** Logs a warning if a run takes longer; null for runs that may take hours. */
  warnAfterMs?: number | null;
  /** The pause grows to this while runs find nothing to do: their results hold no number above 0. */
  idlePauseMs?: number;
}

const didSomething = (result: unknown): boolean =>
  Object.values(result ?? {}).some((value) => typeof value === "number" && value > 0);

function warnAfter(service: Service, name: string, ms: number | null): NodeJS.Timeout | undefined {
  if (ms === null) return undefined;
  return setTimeout(() => service.logger.warn(`${name} has been running for ${ms / 1_000} s`), ms).unref();
}

/** False if there was nothing to do. */
async function runOnce(service: Service, name: string, warnAfterMs: number | null): Promise<boolean> {
  const warning = warnAfter(service, name, warnAfterMs);
  try {
    return didSomething(await service.broker.call(name, {}, NO_TIMEOUT));
  } catch (error) {
    service.logger.error(`${name} failed: ${(error as Error).message}`);
    return true;
  } finally {
    clearTimeout(warning);
  }
}

export function every(
  pauseMs: number,
  action: string,
  { warnAfterMs = WARN_AFTER_MS, idlePauseMs = pauseMs }: RepeatOptions = {},
): Partial<ServiceSchema> {
  return {
    actions: { [action]: { visibility: "protected" } },

    created(this: Repeating) {
      this.repetitions ??= new Map();
    },

    started(this: Repeating) {
      const repetition: Repetition = { stopped: false };
      this.repetitions.set(action, repetition);
      let waitMs = pauseMs;
      const run = () => {
        // If another part of the node fails to start, nothing is registered here.
        if (!this.broker.started) return next();
        repetition.run = runOnce(this, `${this.name}.${action}`, warnAfterMs).then(next);
      };
      const next = (wasBusy = true) => {
        if (repetition.stopped) return;
        waitMs = wasBusy ? pauseMs : Math.min(2 * waitMs, idlePauseMs);
        wait(waitMs);
      };
      const wait = (ms: number) => {
        const timer = setTimeout(run, ms);
        repetition.cancel = () => clearTimeout(timer);
      };
      wait(pauseMs < SPREAD_FROM_MS ? pauseMs : (pauseMs * (1 + Math.random())) / 2);
    },

    async stopped(this: Repeating) {
      const repetition = this.repetitions.get(action);
      if (!repetition) return;
      repetition.stopped = true;
      repetition.cancel?.();
      await repetition.run;
    },
  } as unknown as Partial<ServiceSchema>;
}
