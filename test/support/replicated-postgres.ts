/** A PostgreSQL with an asynchronous replica, and one address that follows the primary. */
import pg from "pg";
import { type Postgres15, startPostgres15 } from "./postgres15.ts";
import { type SilentProxy, startSilentProxy } from "./silent-proxy.ts";

export interface ReplicatedPostgres {
  /** The URL that follows the primary. */
  url: string;
  /** Later commits do not reach the replica. */
  stopReplicating(): void;
  /** Ends the primary, promotes the replica and redirects the address. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const settings = ["max_connections=200"];
  const primary: Postgres15 = await startPostgres15({ settings });
  const stream: SilentProxy = await startSilentProxy(primary.port);
  const replica = await startPostgres15({ settings, replicaOf: stream.port });
  const address = await startSilentProxy(primary.port);
  return {
    url: `postgres://test@127.0.0.1:${address.port}/postgres`,
    stopReplicating: () => stream.hold(),
    async failOver() {
      await primary.kill();
      const client = new pg.Client(replica.url("postgres"));
      await client.connect();
      await client.query("select pg_promote()");
      await client.end();
      address.target(replica.port);
      address.cut();
    },
    async stop() {
      await Promise.all([address.stop(), stream.stop()]);
      await Promise.all([primary.stop(), replica.stop()]);
    },
  };
}
