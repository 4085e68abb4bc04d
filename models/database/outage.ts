/**
 * Classifies errors that are not the request's fault: PostgreSQL is unavailable, or it ended the statement in favour of
 * others (time-outs, deadlocks). The same request may succeed a moment later. Codes: PostgreSQL, appendix A.
 */
import { setTimeout as sleep } from "node:timers/promises";

const CODES = new Set([
  // No connection, or one that broke (Node's codes, then class 08).
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "EHOSTUNREACH"],
  ...["08000", "08001", "08003", "08006"],
  // Too many connections; shutting down, crashed, starting up; ended while idle, or in a transaction that took too long.
  ...["53300", "57P01", "57P02", "57P03", "57P05", "25P03", "25P04"],
  // A server that has become a standby, or is not yet the primary.
  "25006",
  // Statement time-out or cancelled by an operator; lock time-out; deadlock; serialization.
  ...["57014", "55P03", "40P01", "40001"],
]);

/** pg's messages without a code. */
const SENTENCES =
  /^(timeout expired|timeout exceeded when trying to connect|Connection terminated|Client (has encountered a connection error|was closed) and is not queryable|The database has not answered)/;

interface DatabaseError {
  name?: unknown;
  code?: unknown;
  message?: unknown;
  /** Errors wrapped by Sequelize. */
  parent?: DatabaseError;
}

/** Returns whether the statement exceeded its time-out or was cancelled by an operator. */
export const isQueryCanceled = (error: unknown): boolean => (error as DatabaseError | null)?.code === "57014";

/**
 * Also limits how long a start waits for its first connection: five tries are too few if many processes start on few
 * cores.
 */
const TRY_FOR_MS = 60_000;
const PAUSE_MS = 1_000;

/** Retries during an outage, so that a start survives a PostgreSQL that becomes unavailable or slow for a moment. */
export async function retryInOutage<T>(
  work: () => Promise<T>,
  { forMs = TRY_FOR_MS, pauseMs = PAUSE_MS } = {},
): Promise<T> {
  const untilMs = performance.now() + forMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() >= untilMs || !isDatabaseOutage(error)) throw error;
      await sleep(pauseMs);
    }
  }
}

export function isDatabaseOutage(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { name, code, message, parent } = error as DatabaseError;
  if (CODES.has(String(code)) || SENTENCES.test(String(message))) return true;
  if (/^Sequelize(Connection|HostNot|AccessDenied|TimedOut|Timeout)/.test(String(name))) return true;
  return parent !== undefined && isDatabaseOutage(parent);
}
