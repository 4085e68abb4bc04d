/**
 * Keeps a connection to PostgreSQL for one purpose, with statements prepared once: planning the sender's statements
 * costs more than running them.
 *
 * All of them look up few rows by key, so the plan is known and must not depend on current statistics: a plan made
 * while the recipients table is empty would read the whole table ever after, and fresh statistics can lead to the wrong
 * index. The planner still picks between indexes by what it knows, and on an empty table all cost the same. So plans
 * are renewed every second, and where a wrong index would read a whole company its column is compared in a way that no
 * index supports (models/database/same-company.ts).
 */
import { performance } from "node:perf_hooks";
import { BY_KEY } from "../../../models/database/by-key.ts";
import { applySettings, type Client, isPooled, pool } from "../../../models/database/db.ts";
import { asService } from "../../lib/owner.ts";

/**
 * Maximum age of plans. Planning all statements takes about 5 ms, and a campaign may fill an empty table within a
 * second.
 */
const MAX_PLAN_AGE_MS = 1_000;

/**
 * Time-out of a statement. If a database host disappears without closing its connections, TCP retries for a quarter of
 * an hour, long after a standby has taken over. Every statement run here may be repeated.
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
    // The connection outlives the call that opens it.
    const client = await asService(() => pool().connect());
    client.on("error", () => this.#drop(client));
    try {
      await applySettings(client, BY_KEY);
      this.#plannedAt = performance.now();
    } catch (error) {
      // An unreleased client would keep the pool, and with it the process, from ending.
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

  /** Runs one statement at a time, in call order. */
  run<T>(name: string, text: string, values: unknown[]): Promise<T[]> {
    const result = this.#last.then(() => this.#run<T>(name, text, values));
    this.#last = result.catch(() => {});
    return result;
  }

  async #run<T>(name: string, text: string, values: unknown[]): Promise<T[]> {
    // A connection opened now would never be released, and the process would never end.
    if (this.#closed) throw new Error("The connection to the database was closed: the sender stops");
    this.#opening ??= this.#client ? undefined : this.#open().finally(() => (this.#opening = undefined));
    const client = this.#client ?? (await this.#opening!);
    const timer = setTimeout(() => this.#drop(client), this.#answerTimeoutMs);
    try {
      // Plans are not kept behind a pooler.
      if (!isPooled(client) && performance.now() - this.#plannedAt > MAX_PLAN_AGE_MS) {
        await client.query("discard plans");
        this.#plannedAt = performance.now();
      }
      return (await client.query({ name, text, values })).rows as T[];
    } catch (error) {
      // An error without SQLSTATE means that the connection is broken.
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

  /** Closes for good: aborts the running statement and does not start waiting ones. */
  close(): void {
    this.#closed = true;
    this.#opening?.then((client) => this.#drop(client)).catch(() => {});
    if (this.#client) this.#drop(this.#client);
  }
}
