/**
 * Delays responses to multiples of a fixed step, so that their timing does not reveal what the work found. The step is
 * less than people notice and more than the difference between the paths.
 */
import { setTimeout as sleep } from "node:timers/promises";

const STEP_MS = 50;

/** Time to the next step after `beganMs`, by the monotonic clock. */
export const msToNextStep = (beganMs: number, nowMs = performance.now()): number => {
  const passed = nowMs - beganMs;
  return Math.max(1, Math.ceil(passed / STEP_MS)) * STEP_MS - passed;
};

/** Applies to failures as well. */
export async function withUniformTiming<T>(work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  try {
    return await work();
  } finally {
    await sleep(msToNextStep(began));
  }
}
