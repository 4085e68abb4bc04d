/**
 * Limits concurrent work, in total and per company, within a process. Waiting work holds no resources, and companies
 * are served in rotation, so that a busy company only delays itself.
 *
 * | limit                       | at once for a company | where                                         |
 * |-----------------------------|-----------------------|-----------------------------------------------|
 * | HTTP requests               | 32, and 32 of a form  | services/gateway/access/admission.ts          |
 * | statements over many rows   | 1 of each kind        | models/database/bulk.ts                       |
 * | connections to PostgreSQL   | half of a pool        | models/database/shared-pool.ts                |
 * | worker threads              | 1                     | services/lib/workers/task-queue.ts            |
 * | images resized              | 1, of all companies   | services/campaigns/media/copy-media.ts        |
 * | batches claimed by a sender | 50                    | services/smtp-sender/claim/batch-admission.ts |
 *
 * A request waits at most 5 s for all limits together (owner.ts) and is then answered with 429. Background work waits
 * until it is served.
 */
import { throttled } from "./errors.ts";
import { currentBudget, type Owner, type WaitBudget } from "./owner.ts";

export type Release = () => void;

const RETRY_SECONDS = 5;

interface Options {
  total?: number;
  perCompany: number;
  /** Reason of a timed-out wait; `isOwnShare`: the company uses its own share, otherwise others use everything. */
  refusal?: (isOwnShare: boolean) => Error;
}

interface Wait {
  /** Maximum wait, even if the request has more time left, and for background work. */
  atMostMs?: number;
  budget?: WaitBudget | undefined;
}

interface Waiting {
  resolve: (release: Release) => void;
  timer: NodeJS.Timeout | undefined;
}

/** Releases once, however often it is called. */
const once = (run: () => void): Release => {
  let ran = false;
  return () => {
    if (ran) return;
    ran = true;
    run();
  };
};

export class ConcurrencyLimit {
  readonly #total: number;
  readonly #perCompany: number;
  readonly #refusal: (isOwnShare: boolean) => Error;
  #running = 0;
  readonly #runningOf = new Map<Owner, number>();
  /** Companies in the order in which they are served next. */
  readonly #waiting = new Map<Owner, Waiting[]>();

  constructor({ total = Number.POSITIVE_INFINITY, perCompany, refusal = () => throttled(RETRY_SECONDS) }: Options) {
    this.#total = total;
    this.#perCompany = perCompany;
    this.#refusal = refusal;
  }

  get waiting(): number {
    return [...this.#waiting.values()].reduce((sum, { length }) => sum + length, 0);
  }

  /** Returns whether the owner's share is used up. The service itself has no share, only the total limit. */
  #usesWholeShare(owner: Owner): boolean {
    return owner !== undefined && (this.#runningOf.get(owner) ?? 0) >= this.#perCompany;
  }

  /** True while work of this owner runs or waits. */
  serves(owner: Owner): boolean {
    return this.#runningOf.has(owner) || this.#waiting.has(owner);
  }

  /** Undefined if it would have to wait. */
  tryAcquire(owner: Owner): Release | undefined {
    if (this.#running >= this.#total || this.#usesWholeShare(owner)) return undefined;
    this.#running++;
    this.#runningOf.set(owner, (this.#runningOf.get(owner) ?? 0) + 1);
    return once(() => this.#release(owner));
  }

  /** Rejects with the refusal if the wait exceeds the request's time. */
  async acquire(owner: Owner, wait: Wait = {}): Promise<Release> {
    const release = this.tryAcquire(owner);
    if (release) return release;
    const { atMostMs = Number.POSITIVE_INFINITY, budget = currentBudget() } = wait;
    const leftMs = budget?.waitLeftMs ?? Number.POSITIVE_INFINITY;
    const beganMs = performance.now();
    try {
      return await this.#served(owner, Math.min(atMostMs, leftMs));
    } finally {
      if (budget && leftMs !== Number.POSITIVE_INFINITY)
        budget.waitLeftMs = Math.max(0, leftMs - (performance.now() - beganMs));
    }
  }

  async run<T>(owner: Owner, work: () => Promise<T>, wait?: Wait): Promise<T> {
    const release = await this.acquire(owner, wait);
    try {
      return await work();
    } finally {
      release();
    }
  }

  #served(owner: Owner, waitMs: number): Promise<Release> {
    return new Promise((resolve, reject) => {
      const refuse = () => {
        this.#forget(owner, waiting);
        reject(this.#refusal(this.#usesWholeShare(owner)));
      };
      const timer = waitMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(refuse, waitMs);
      const waiting: Waiting = { resolve, timer };
      const line = this.#waiting.get(owner);
      if (line) line.push(waiting);
      else this.#waiting.set(owner, [waiting]);
    });
  }

  #forget(owner: Owner, waiting: Waiting): void {
    const others = this.#waiting.get(owner)!.filter((one) => one !== waiting);
    if (others.length > 0) this.#waiting.set(owner, others);
    else this.#waiting.delete(owner);
  }

  #release(owner: Owner): void {
    this.#running--;
    const running = this.#runningOf.get(owner)! - 1;
    if (running > 0) this.#runningOf.set(owner, running);
    else this.#runningOf.delete(owner);
    this.#serveNext();
  }

  #serveNext(): void {
    for (const [owner, line] of this.#waiting) {
      const release = this.tryAcquire(owner);
      if (!release) continue;
      const [next, ...others] = line as [Waiting, ...Waiting[]];
      // The company goes behind all other waiting companies.
      this.#waiting.delete(owner);
      if (others.length > 0) this.#waiting.set(owner, others);
      clearTimeout(next.timer);
      next.resolve(release);
      return;
    }
  }
}
