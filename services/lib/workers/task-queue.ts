/**
 * Queues work for worker threads, one task per company at a time. Waiting tasks hold their text in memory, so the queue
 * is bounded: it refuses a company with many tasks before it refuses all.
 */
import { ConcurrencyLimit, type Release } from "../concurrency-limit.ts";
import { throttled } from "../errors.ts";

const RETRY_SECONDS = 2;

interface Bounds {
  threads: number;
  /** Maximum waiting size per company, in the unit of the sizes given to `run`. */
  maxWaitingPerCompany: number;
  maxWaitingTotal: number;
}

interface Waiting {
  companyId: string;
  size: number;
}

const sizeOf = (waiting: readonly Waiting[]) => waiting.reduce((sum, { size }) => sum + size, 0);

export class TaskQueue {
  readonly #bounds: Bounds;
  readonly #threads: ConcurrencyLimit;
  readonly #waiting = new Set<Waiting>();

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
    this.#threads = new ConcurrencyLimit({ total: bounds.threads, perCompany: 1 });
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Throws 429 if too much waits, or the task has waited too long. */
  async run<T>(companyId: string, size: number, work: () => Promise<T>): Promise<T> {
    this.#refuseTooMuch(companyId, size);
    const release = this.#threads.tryAcquire(companyId) ?? (await this.#waitForThread({ companyId, size }));
    try {
      return await work();
    } finally {
      release();
    }
  }

  #refuseTooMuch(companyId: string, size: number): void {
    const { maxWaitingPerCompany, maxWaitingTotal } = this.#bounds;
    const all = [...this.#waiting];
    const ownTasks = all.filter((one) => one.companyId === companyId);
    if (sizeOf(ownTasks) + size > maxWaitingPerCompany || sizeOf(all) + size > maxWaitingTotal)
      throw throttled(RETRY_SECONDS);
  }

  async #waitForThread(waiting: Waiting): Promise<Release> {
    this.#waiting.add(waiting);
    return this.#threads.acquire(waiting.companyId).finally(() => this.#waiting.delete(waiting));
  }
}
