/**
 * A pool of connections that companies share. A statement waits for its company's concurrency limit before it takes a
 * connection, so that one company's locks and long statements never take the last connection from the others.
 */
import pg from "pg";
import { ConcurrencyLimit, type Release } from "../../services/lib/concurrency-limit.ts";
import { throttled } from "../../services/lib/errors.ts";
import { currentBudget, currentOwner } from "../../services/lib/owner.ts";
import { CONNECT_TIMEOUT_MS } from "./client.ts";
import { halfOf } from "./shares.ts";

type Callback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

const RETRY_SECONDS = 5;

/** A request of a company that has its share is throttled. All else counts as an outage, by pg's own words (outage.ts). */
const refusal = (isOwnShare: boolean) =>
  isOwnShare && currentBudget() ? throttled(RETRY_SECONDS) : new Error("timeout exceeded when trying to connect");

export class SharedPool extends pg.Pool {
  readonly #limit: ConcurrencyLimit;
  readonly #held = new Map<pg.PoolClient, Release>();

  constructor(config: pg.PoolConfig & { max: number }) {
    super(config);
    this.#limit = new ConcurrencyLimit({ total: config.max, perCompany: halfOf(config.max), refusal });
    this.on("release", (_error, client) => {
      const release = this.#held.get(client);
      this.#held.delete(client);
      release?.();
    });
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<pg.PoolClient> | undefined {
    if (!callback) {
      return new Promise((resolve, reject) =>
        this.connect((error, client) => (error ? reject(error) : resolve(client!))),
      );
    }
    const owner = currentOwner();
    const release = this.#limit.tryAcquire(owner);
    if (release) this.#connect(release, callback);
    else {
      this.#limit.acquire(owner, { atMostMs: CONNECT_TIMEOUT_MS }).then(
        (late) => this.#connect(late, callback),
        (error) => callback(error, undefined, () => {}),
      );
    }
  }

  #connect(release: Release, callback: Callback): void {
    super.connect((error, client, done) => {
      if (client) this.#held.set(client, release);
      else release();
      callback(error, client, done);
    });
  }
}
