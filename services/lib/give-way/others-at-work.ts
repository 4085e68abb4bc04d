/** Who asks for something: each process knows it of the companies that it serves itself. */
import { performance } from "node:perf_hooks";
import type { Owner } from "../turns.ts";

/** The two that asked last, and when: whoever else is at work, one of them is not the one that asks. */
export class LastAskers {
  #last: Owner;
  #lastAtMs = Number.NEGATIVE_INFINITY;
  #otherAtMs = Number.NEGATIVE_INFINITY;

  note(owner: Owner): void {
    if (owner !== this.#last) {
      this.#otherAtMs = this.#lastAtMs;
      this.#last = owner;
    }
    this.#lastAtMs = performance.now();
  }

  /** For how long nobody but `owner` has asked. */
  sinceOthersMs(owner: Owner): number {
    return performance.now() - (owner === this.#last ? this.#otherAtMs : this.#lastAtMs);
  }
}

/** A company that asks for something ten times a second is at work all the time. */
const AT_WORK_MS = 250;
/** Whoever reads pages asks again within that. */
export const COMES_BACK_MS = 5_000;

const companies = new LastAskers();

/** Some company has asked for something. Called for each action: 0.1 µs. */
export function noteCall(companyId: Owner): void {
  if (companyId !== undefined) companies.note(companyId);
}

/** Whether another company than this one asked a moment ago. */
export const othersAreAtWork = (companyId: Owner): boolean => companies.sinceOthersMs(companyId) < AT_WORK_MS;

/** Whether another company asked some seconds ago, so that it may ask again before what begins now is over. */
export const othersMayComeBack = (companyId: Owner): boolean => companies.sinceOthersMs(companyId) < COMES_BACK_MS;
