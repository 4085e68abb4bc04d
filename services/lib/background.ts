/** Work that goes on behind an answer: bounded in number, and waited for at the end of the service. */

const MAX_AT_ONCE = 100;

export class Background {
  readonly #running = new Set<Promise<unknown>>();
  readonly #failed: (error: unknown) => void;

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** Beyond what fits nothing is begun. */
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

  /** Resolves when nothing is going on any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }
}
