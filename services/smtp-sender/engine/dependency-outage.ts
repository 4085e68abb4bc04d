/** Something the engine needs is away (PostgreSQL, Redis, the renderer): it waits, and logs when that begins and ends. */
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

export interface Log {
  error(text: string, data?: object): void;
  warn(text: string, data?: object): void;
  info(text: string, data?: object): void;
}

const RETRY_PAUSE_MS = 500;
const FORGOTTEN_MS = 10_000;

export class DependencyOutage {
  #log: Log;
  #last = "";
  #at = 0;
  #stopping = new AbortController();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Why nothing can be sent at the moment; null: nothing is known to be away. */
  get current(): string | null {
    return this.#last !== "" && performance.now() - this.#at < FORGOTTEN_MS ? this.#last : null;
  }

  /** Null: it works again. */
  report(error: Error | null): void {
    if (!error) {
      this.over();
      return;
    }
    const text = error.message || error.name;
    if (text !== this.#last || performance.now() - this.#at > FORGOTTEN_MS) this.#log.warn(`sending waits: ${text}`);
    this.#last = text;
    this.#at = performance.now();
  }

  over(): void {
    if (this.#last === "") return;
    this.#log.info("sending goes on");
    this.#last = "";
  }

  /**
   * Repeats the work until it succeeds, however long that takes. Only when the process stops it is given up, and
   * logged: what was not written then is found by whoever looks at the rows next (a lease runs out, a refused login is
   * met again).
   */
  async retryUntilDone(what: string, work: () => Promise<void>, pauseMs = RETRY_PAUSE_MS): Promise<void> {
    const { signal } = this.#stopping;
    for (;;) {
      try {
        await work();
        return;
      } catch (error) {
        if (signal.aborted) {
          this.#log.error(`not done before the sender stopped: ${what}`, { error: (error as Error).message });
          return;
        }
        this.report(error as Error);
        await sleep(pauseMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  /** What still fails is tried once more, and given up. */
  stopRetrying(): void {
    this.#stopping.abort();
  }
}
