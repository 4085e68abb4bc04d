/** Who asks for something: each process knows it of the companies that it serves itself. */
import { performance } from "node:perf_hooks";
import type { Owner } from "../turns.ts";

/** A company that asks for something ten times a second is at work all the time. */
const AT_WORK_MS = 250;

/** The two companies that asked last, and when: whoever else is at work, one of them is not the one that asks. */
let [last, lastAtMs] = [undefined as Owner, Number.NEGATIVE_INFINITY];
let otherAtMs = Number.NEGATIVE_INFINITY;

/** Some company has asked for something. Called for each action: 0.1 µs. */
export function noteCall(companyId: Owner): void {
  if (companyId === undefined) return;
  if (companyId !== last) {
    otherAtMs = lastAtMs;
    last = companyId;
  }
  lastAtMs = performance.now();
}

/** Whether another company than this one asked a moment ago. */
export const othersAreAtWork = (companyId: Owner): boolean =>
  performance.now() - (companyId === last ? otherAtMs : lastAtMs) < AT_WORK_MS;
