/** Runs a bounded amount of work after a response; the service waits for it when it stops. */

const MAX_AT_ONCE = 100;

export class Background {
  readonly #running = new Set<Promise<unknown>>();
  readonly #failed: (error: unknown) => void;

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** Work beyond the limit is not started. */
  begin(work: () => Promise<unknown>): void {
    if (this.#running.size >= MAX_AT_ONCE) {
      this.#failed(new Error("Too much is going on behind answers"));
      return;
    }
    const running = work()
      .catch(this.#failed)
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Resolves when no work is left. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }
}
