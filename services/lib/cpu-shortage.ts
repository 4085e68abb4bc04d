/** Whether CPU is short: on this machine, or in this process alone, which then notices that its timers are late. */
import { cpus } from "node:os";

/**
 * Of the time of all cores: with less of it left, whoever wakes waits for a core. Of few cores a larger share: of two that are
 * 60 % in use one is free for two thirds of the time, of eight that are 85 % in use for three quarters. With 0.3 for two, the others'
 * slowest 1 % beside sends to 2,000 receivers took 3.1 to 3.8 times as long as in silence, with 0.45 2.4 times.
 */
const LEAST_IDLE = Math.min(0.4, Math.max(0.15, 0.8 / cpus().length));
const LATE_MS = 60;

interface Times {
  idle: number;
  all: number;
}

function timesOfMachine(): Times {
  let idle = 0;
  let all = 0;
  for (const { times } of cpus()) {
    idle += times.idle;
    all += times.idle + times.user + times.sys + times.nice + times.irq;
  }
  return { idle, all };
}

/** Returns what says whether CPU was short since it was asked before, `everyMs` ago. */
export function cpuShortage(everyMs: number): () => boolean {
  let before = timesOfMachine();
  let askedMs = performance.now();
  return () => {
    const now = timesOfMachine();
    const nowMs = performance.now();
    const idle = (now.idle - before.idle) / Math.max(1, now.all - before.all);
    const isLate = nowMs - askedMs > everyMs + LATE_MS;
    before = now;
    askedMs = nowMs;
    return isLate || idle < LEAST_IDLE;
  };
}
