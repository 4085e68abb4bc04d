/**
 * Waits for an unavailable dependency of the engine (PostgreSQL, Redis, the renderer), and logs the start and end of
 * the outage.
 */
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";

export interface Log {
  error(text: string, data?: object): void;
  warn(text: string, data?: object): void;
  info(text: string, data?: object): void;
}

const RETRY_PAUSE_MS = 500;
const LOG_AGAIN_AFTER_MS = 10_000;

export class DependencyOutage {
  #log: Log;
  #last = "";
  #at = 0;
  #stopping = new AbortController();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Reason why nothing can be sent now; null: no known outage. */
  get current(): string | null {
    return this.#last !== "" && performance.now() - this.#at < LOG_AGAIN_AFTER_MS ? this.#last : null;
  }

  /** Called with null when it works again. */
  report(error: Error | null): void {
    if (!error) {
      this.over();
      return;
    }
    const text = error.message || error.name;
    if (text !== this.#last || performance.now() - this.#at > LOG_AGAIN_AFTER_MS)
      this.#log.warn(`sending waits: ${text}`);
    this.#last = text;
    this.#at = performance.now();
  }

  over(): void {
    if (this.#last === "") return;
    this.#log.info("sending continues");
    this.#last = "";
  }

  /**
   * Repeats the work until it succeeds. Gives up, with a log line, only when the process stops: unwritten results are
   * found later through the rows (an expired lease, a repeated login failure).
   */
  async retryUntilDone(what: string, work: () => Promise<void>, pauseMs = RETRY_PAUSE_MS): Promise<void> {
    const { signal } = this.#stopping;
    for (;;) {
      try {
        await work();
        return;
      } catch (error) {
        if (signal.aborted) {
          this.#log.error(`unfinished when the sender stopped: ${what}`, { error: (error as Error).message });
          return;
        }
        this.report(error as Error);
        await sleep(pauseMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  /** Work that still fails gets one last try. */
  stopRetrying(): void {
    this.#stopping.abort();
  }
}
