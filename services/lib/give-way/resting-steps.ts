/** Work in steps, such as statements: each rests before the company's next one. */
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { unavailable } from "../errors.ts";
import { type Owner, type Release, Turns } from "../turns.ts";
import { type Circumstances, gaveWay, mustGiveWay } from "./circumstances.ts";

/** So soon it is noticed that nobody else asks any more. */
const LOOK_WHILE_RESTING_MS = 50;
/**
 * After a statement of many seconds nobody has to wait for as many more; and an import rests within its transaction, which PostgreSQL
 * ends after four seconds without a statement (models/database/session-settings.ts).
 */
const MAX_REST_MS = 1_000;
/** Some 20 ms of PostgreSQL instead of 100. */
const SMALLER = 5;

/**
 * Steps in PostgreSQL, or of both: each rests as long as it took, or longer where CPU stays short. Those of a company go one after the
 * other then: an import, a slice and a save side by side have all of two cores between two statements of the others.
 */
export class RestingSteps {
  readonly #work: string;
  readonly #circumstances: Circumstances;
  /** When a company's next step may begin, by the monotonic clock. */
  readonly #nextMs = new Map<Owner, number>();
  readonly #places = new Turns({ inAll: Number.POSITIVE_INFINITY, perOwner: 1, refusal: () => unavailable() });

  constructor(work: string, circumstances: Circumstances) {
    this.#work = work;
    this.#circumstances = circumstances;
  }

  /**
   * How many rows a step should take, of as many as it usually does: what is short takes the others' core for a shorter time, and
   * they have it for as long afterwards. Also where they only paused: a step that has begun takes its core whoever comes.
   */
  rows(companyId: Owner, usual: number): number {
    const { shortage, othersMayComeBack } = this.#circumstances;
    return shortage.lasts() && othersMayComeBack(companyId) ? Math.ceil(usual / SMALLER) : usual;
  }

  /** Runs a step after the company's last one and what that has to rest. */
  run<T>(companyId: Owner, step: () => Promise<T>): Promise<T> {
    return this.inTurn(companyId, () => this.timed(companyId, step));
  }

  /** For work that waits for something else (a connection, say) before its step, which is `timed`. */
  async inTurn<T>(companyId: Owner, work: () => Promise<T>): Promise<T> {
    const leave = await this.#ownPlace(companyId);
    try {
      return await work();
    } finally {
      leave?.();
    }
  }

  /**
   * Rests first, so that no place is held meanwhile: those that wait for one would all go at once after a rest of a second. Who gets a
   * place after another step of the company rests once more, up to a second in all.
   */
  async #ownPlace(companyId: Owner): Promise<Release | undefined> {
    const untilMs = performance.now() + MAX_REST_MS;
    for (;;) {
      await this.rest(companyId);
      if (!mustGiveWay(this.#circumstances, companyId)) return undefined;
      // Not for ever: a step may wait for a lock that the company's import holds, whose next step waits for that one here.
      const leave = await this.#places.take(companyId, MAX_REST_MS).catch(() => undefined);
      const nowMs = performance.now();
      if (!leave || nowMs >= untilMs || (this.#nextMs.get(companyId) ?? 0) <= nowMs) return leave;
      leave();
    }
  }

  /** For a step of `inTurn`, or one that does not rest itself: the next one does. */
  async timed<T>(companyId: Owner, step: () => Promise<T>): Promise<T> {
    const beganMs = performance.now();
    try {
      return await step();
    } finally {
      this.#took(companyId, performance.now() - beganMs);
    }
  }

  /** For steps that are no calls: what is returned is called between two of them, and rests for as long as it is since it returned. */
  pace(companyId: Owner): () => Promise<void> {
    let sinceMs = performance.now();
    return async () => {
      this.#took(companyId, performance.now() - sinceMs);
      await this.rest(companyId);
      sinceMs = performance.now();
    };
  }

  #took(companyId: Owner, ms: number): void {
    if (!mustGiveWay(this.#circumstances, companyId)) return;
    const nowMs = performance.now();
    const fromMs = Math.max(nowMs, this.#nextMs.get(companyId) ?? 0);
    const restMs = ms * this.#circumstances.shortage.factor;
    this.#nextMs.set(companyId, Math.min(fromMs + restMs, nowMs + MAX_REST_MS));
  }

  /** Ends early where nobody else asks any more. */
  async rest(companyId: Owner): Promise<void> {
    const beganMs = performance.now();
    // Whatever else of the company ends meanwhile.
    const untilMs = Math.min(this.#nextMs.get(companyId) ?? 0, beganMs + MAX_REST_MS);
    for (;;) {
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0 || !this.#circumstances.othersAreAtWork(companyId)) break;
      await sleep(Math.min(leftMs, LOOK_WHILE_RESTING_MS));
    }
    if ((this.#nextMs.get(companyId) ?? 0) <= performance.now()) this.#nextMs.delete(companyId);
    const restedMs = performance.now() - beganMs;
    if (restedMs > 1) gaveWay.inc({ work: this.#work }, restedMs / 1_000);
  }
}
