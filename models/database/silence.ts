/**
 * Closes silent connections. A database host that disappears (power, network, failover) leaves statements unanswered
 * for as long as TCP retries: a quarter of an hour, while each pooled connection is occupied. PostgreSQL itself ends
 * statements that take too long, so a connection silent for longer is dead.
 */
import type { Socket } from "node:net";
import type { PoolClient } from "pg";
import { GRACE_MS, STATEMENT_TIMEOUT_MS, setLocally } from "./session-settings.ts";

export const SILENT_MS = STATEMENT_TIMEOUT_MS + GRACE_MS;

const streamOf = (client: object) => (client as { connection: { stream: Socket } }).connection.stream;

/** Called once per new connection. */
export function endInSilence(client: object, silentMs: number): void {
  const stream = streamOf(client);
  stream.on("timeout", () => stream.destroy(new Error("The database has not answered for too long.")));
  stream.setTimeout(silentMs);
}

export function allowSilence(client: object, silentMs: number): void {
  streamOf(client).setTimeout(silentMs);
}

/** Applies to the rest of a transaction; reset when the client is released. */
export async function allowLonger(client: PoolClient, statementMs: number): Promise<void> {
  const longer = [
    ["statement_timeout", statementMs],
    ["lock_timeout", statementMs],
    // Reset to 0 first: the timer is already running, and a new value is only used after that.
    ["transaction_timeout", 0],
    ["transaction_timeout", 2 * statementMs],
  ] as const;
  await client.query(setLocally(longer));
  allowSilence(client, statementMs + GRACE_MS);
}
