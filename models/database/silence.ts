/**
 * A database whose machine is gone without a word (power, network, a failover) leaves statements without an answer for as
 * long as TCP tries: a quarter of an hour, in which each connection of the pool is taken. PostgreSQL itself ends a
 * statement that takes too long, so a connection that is silent for longer than that is given up.
 */
import type { Socket } from "node:net";
import type { PoolClient } from "pg";

export const STATEMENT_TIMEOUT_MS = 60_000;
const GRACE_MS = 10_000;

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
  await client.query(`set local statement_timeout = ${statementMs}`);
  allowSilence(client, statementMs + GRACE_MS);
}
