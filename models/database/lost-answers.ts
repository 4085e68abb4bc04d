/**
 * Closes connections whose answers were lost. After a network failure, statements wait for answers that were sent and
 * lost; each occupies a pooled connection for over a minute. PostgreSQL knows which of them it is still executing;
 * other connections are closed, and their statements fail as in any outage.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { DatabaseClient } from "./client.ts";

/** Between the question and its answer a statement may have been answered, or another one begun. */
const ANSWER_MS = 500;

/** The parts of pg's client that its types do not show. */
interface ClientParts {
  _activeQuery: object | null;
  processID: number;
  connection: { stream: { destroy(error: Error): void } };
}
const partsOf = (client: DatabaseClient) => client as unknown as ClientParts;

const WORKING = "select pid from pg_stat_activity where pid = any($1) and state = 'active'";

/**
 * Closes those of the connections that wait for a statement the database is not executing, and returns their number.
 * Asks twice: a statement in transit to a backend without CPU time may only be visible the second time.
 */
export async function closeUnanswered(
  clients: Iterable<DatabaseClient>,
  ask: (text: string, values: unknown[]) => Promise<{ pid: number }[]>,
): Promise<number> {
  // Skipped behind a pooler, where the process id is the pooler's; the pooler checks its own connections.
  let waiting = [...clients]
    .filter((client) => !client.pooled)
    .map((client) => ({ parts: partsOf(client), statement: partsOf(client)._activeQuery }))
    .filter(({ statement }) => statement !== null);
  const leaveOutWorking = async () => {
    if (waiting.length === 0) return;
    const rows = await ask(WORKING, [waiting.map(({ parts }) => parts.processID)]);
    const working = new Set(rows.map(({ pid }) => pid));
    waiting = waiting.filter(
      ({ parts, statement }) => !working.has(parts.processID) && parts._activeQuery === statement,
    );
  };
  await leaveOutWorking();
  await sleep(ANSWER_MS);
  await leaveOutWorking();
  for (const { parts } of waiting)
    parts.connection.stream.destroy(new Error("The database has not answered: it is lost."));
  return waiting.length;
}
