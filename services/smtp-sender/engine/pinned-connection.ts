/**
 * A connection to PostgreSQL kept for one purpose, with its statements prepared once: planning the sender's statements
 * costs more than running them.
 *
 * All of them look up a few rows by key, so the plan is known and must not depend on the statistics of the moment: one
 * made while the table of recipients was still empty reads all of it for ever after (measured: 5 times the cost per
 * mail), and one from fresh statistics once took the wrong index. Even so the planner picks between indexes by what it
 * knows at that moment, and on an empty table all of them cost the same: plans are made anew every second, and where a
 * wrong index would read a whole company its column is compared in a way no index can be used for
 * (models/database/same-company.ts).
 */
import { performance } from "node:perf_hooks";
import { BY_KEY } from "../../../models/database/by-key.ts";
import { applySettings, type Client, isPooled, pool } from "../../../models/database/db.ts";
import { asService } from "../../lib/owner.ts";

/** Planning all of them anew takes about 5 ms. The first campaign may fill an empty table within a second. */
const MAX_PLAN_AGE_MS = 1_000;

/**
 * A database host that disappears without closing its connections (power, network) leaves a statement unanswered for as
 * long as TCP tries, a quarter of an hour, long after a standby has taken over. Whatever is run here may be run again.
 */
const ANSWER_TIMEOUT_MS = 30_000;

export class PinnedConnection {
  #plannedAt = 0;
  #last: Promise<unknown> = Promise.resolve();
  #client: Client | undefined;
  #opening: Promise<Client> | undefined;
  #closed = false;
  #answerTimeoutMs: number;

  constructor(answerTimeoutMs = ANSWER_TIMEOUT_MS) {
    this.#answerTimeoutMs = answerTimeoutMs;
  }

  async #open(): Promise<Client> {
    // Kept beyond the call in which it is opened.
    const client = await asService(() => pool().connect());
    client.on("error", () => this.#drop(client));
    try {
      await applySettings(client, BY_KEY);
      this.#plannedAt = performance.now();
    } catch (error) {
      // A client that is not released keeps the pool, and with it the process, from ending.
      client.release(true);
      throw error;
    }
    this.#client = client;
    return client;
  }

  #drop(client: Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    client.release(true);
  }

  /** One statement at a time, in the order of the calls. */
  run<T>(name: string, text: string, values: unknown[]): Promise<T[]> {
    const result = this.#last.then(() => this.#run<T>(name, text, values));
    this.#last = result.catch(() => {});
    return result;
  }

  async #run<T>(name: string, text: string, values: unknown[]): Promise<T[]> {
    // A connection taken now would never be released, and the pool, and with it the process, would never end.
    if (this.#closed) throw new Error("The connection to the database was closed: the sender stops");
    this.#opening ??= this.#client ? undefined : this.#open().finally(() => (this.#opening = undefined));
    const client = this.#client ?? (await this.#opening!);
    const timer = setTimeout(() => this.#drop(client), this.#answerTimeoutMs);
    try {
      // Behind a pooler nothing is planned once.
      if (!isPooled(client) && performance.now() - this.#plannedAt > MAX_PLAN_AGE_MS) {
        await client.query("discard plans");
        this.#plannedAt = performance.now();
      }
      return (await client.query({ name, text, values })).rows as T[];
    } catch (error) {
      // Without the SQLSTATE of a refused statement the connection itself is broken.
      if (
        !/^[0-9A-Z]{5}$/.test((error as { code?: string }).code ?? "") ||
        /^(57|08|25)/.test((error as { code: string }).code)
      ) {
        this.#drop(client);
      }
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** For good: the running statement is cut off, those that wait are not begun. */
  close(): void {
    this.#closed = true;
    this.#opening?.then((client) => this.#drop(client)).catch(() => {});
    if (this.#client) this.#drop(this.#client);
  }
}
