/**
 * Errors that say nothing against the request: PostgreSQL is away, or it ended the statement for the sake of others
 * (time-outs, deadlocks). The same request may succeed a moment later. Codes: PostgreSQL, appendix A.
 */
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

/** What pg says without a code. */
const SENTENCES =
  /^(timeout exceeded when trying to connect|Connection terminated|Client (has encountered a connection error|was closed) and is not queryable|The database has not answered)/;

interface DatabaseError {
  name?: unknown;
  code?: unknown;
  message?: unknown;
  /** What Sequelize wraps. */
  parent?: DatabaseError;
}

/** It took longer than its statement time-out, or an operator cancelled it. */
export const isQueryCanceled = (error: unknown): boolean => (error as DatabaseError | null)?.code === "57014";

export function isDatabaseOutage(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { name, code, message, parent } = error as DatabaseError;
  if (CODES.has(String(code)) || SENTENCES.test(String(message))) return true;
  if (/^Sequelize(Connection|HostNot|AccessDenied|TimedOut|Timeout)/.test(String(name))) return true;
  return parent !== undefined && isDatabaseOutage(parent);
}
