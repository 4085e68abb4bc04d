/**
 * A database whose machine is gone without a word (power, network, a failover) leaves statements without an answer for as
 * long as TCP tries: a quarter of an hour, in which each connection of the pool is taken. PostgreSQL itself ends a
 * statement that takes too long, so a connection that is silent for longer than that is given up.
 */
import type { Socket } from "node:net";
import type { PoolClient } from "pg";
import { GRACE_MS, STATEMENT_TIMEOUT_MS, setLocally } from "./session-settings.ts";

export const SILENT_MS = STATEMENT_TIMEOUT_MS + GRACE_MS;

const streamOf = (client: object) => (client as { connection: { stream: Socket } }).connection.stream;

/** Once for a connection, as soon as it is there. */
export function endInSilence(client: object, silentMs: number): void {
  const stream = streamOf(client);
  stream.on("timeout", () => stream.destroy(new Error("The database has not answered for too long.")));
  stream.setTimeout(silentMs);
}

export function allowSilence(client: object, silentMs: number): void {
  streamOf(client).setTimeout(silentMs);
}

/** For the rest of a transaction. When the client is given back, it is as before. */
export async function allowLonger(client: PoolClient, statementMs: number): Promise<void> {
  const longer = [
    ["statement_timeout", statementMs],
    ["lock_timeout", statementMs],
    // Its clock runs already: another value counts only once there was none.
    ["transaction_timeout", 0],
    ["transaction_timeout", 2 * statementMs],
  ] as const;
  await client.query(setLocally(longer));
  allowSilence(client, statementMs + GRACE_MS);
}
