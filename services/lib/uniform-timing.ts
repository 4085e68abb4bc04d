/**
 * Answers at even times after the question: what the work took, and so what it found, cannot be measured from outside. Less than
 * a person notices, more than the difference between one path and another.
 */
import { setTimeout as sleep } from "node:timers/promises";

const STEP_MS = 50;

/** Until the next step since `beganMs`, by the monotonic clock. */
export const msToNextStep = (beganMs: number, nowMs = performance.now()): number => {
  const passed = nowMs - beganMs;
  return Math.max(1, Math.ceil(passed / STEP_MS)) * STEP_MS - passed;
};

/** As the work ends, a refusal too. */
export async function withUniformTiming<T>(work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  try {
    return await work();
  } finally {
    await sleep(msToNextStep(began));
  }
}
