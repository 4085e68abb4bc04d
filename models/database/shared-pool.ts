/**
 * A pool of connections that companies share: whoever runs a statement takes a turn first, and only then a connection, so
 * that what one company waits for (a lock, a statement that takes long) never takes the last connection from the others.
 */
import pg from "pg";
import { type Release, Turns } from "../../services/lib/turns.ts";
import { CONNECT_TIMEOUT_MS } from "./client.ts";
import { currentOwner } from "./owner.ts";
import { halfOf } from "./shares.ts";

type Callback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/** pg's own words, by which it counts as an outage (outage.ts): it may be asked again. */
const tooLate = () => new Error("timeout exceeded when trying to connect");

export class SharedPool extends pg.Pool {
  readonly #turns: Turns;
  readonly #held = new Map<pg.PoolClient, Release>();

  constructor(config: pg.PoolConfig & { max: number }) {
    super(config);
    this.#turns = new Turns({ inAll: config.max, perOwner: halfOf(config.max), refusal: tooLate });
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
    const release = this.#turns.tryTake(owner);
    if (release) this.#connect(release, callback);
    else {
      this.#turns.take(owner, CONNECT_TIMEOUT_MS).then(
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
