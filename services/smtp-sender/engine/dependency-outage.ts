/** Something the engine needs is away (PostgreSQL, Redis, the renderer): it waits, says so once, and says when it is over. */
import { setTimeout as sleep } from "node:timers/promises";

interface Log {
  warn(text: string): void;
  info(text: string): void;
}

const PAUSE_MS = 500;
const FORGOTTEN_MS = 10_000;

export class DependencyOutage {
  #log: Log;
  #last = "";
  #at = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  get current(): string | null {
    return this.#last !== "" && Date.now() - this.#at < FORGOTTEN_MS ? this.#last : null;
  }

  report(error: Error | null): void {
    if (!error) {
      this.over();
      return;
    }
    const text = error.message || error.name;
    if (text !== this.#last || Date.now() - this.#at > FORGOTTEN_MS) this.#log.warn(`sending waits: ${text}`);
    this.#last = text;
    this.#at = Date.now();
  }

  over(): void {
    if (this.#last === "") return;
    this.#log.info("sending goes on");
    this.#last = "";
  }

  /** Does it until it succeeds: for what must not be forgotten. */
  async retryUntilDone(work: () => Promise<void>, tries = 20): Promise<void> {
    for (let n = 1; ; n++) {
      try {
        await work();
        return;
      } catch (error) {
        this.report(error as Error);
        if (n === tries) return;
        await sleep(PAUSE_MS);
      }
    }
  }
}
