/** Every error that reaches the edge becomes an answer here, and nowhere else (spec section 7). */
import { type ErrorData, isApiError, unavailable } from "../lib/errors.ts";

export interface Problem {
  status: number;
  body: Record<string, unknown>;
  headers: Record<string, string>;
  /** Ours to repair: logged with its stack, which never leaves the process. */
  internal: boolean;
}

/** Moleculer's errors for an actor that is not there, does not answer in time or takes no more. */
const AWAY = new Set([
  "ServiceNotFoundError",
  "ServiceNotAvailableError",
  "RequestTimeoutError",
  "RequestRejectedError",
  "RequestSkippedError",
  "QueueIsFullError",
  "BrokerDisconnectedError",
]);

/** The database is away or is not taking connections. Over NATS only the name and a string code arrive. */
const DATABASE_AWAY = new Set(["ECONNREFUSED", "ECONNRESET", "57P01", "57P02", "57P03", "53300", "08006", "08001"]);

function isAway(error: { name?: unknown; code?: unknown; message?: unknown }): boolean {
  if (AWAY.has(String(error.name)) || DATABASE_AWAY.has(String(error.code))) return true;
  if (/^Sequelize(Connection|HostNot|AccessDenied|TimedOut)/.test(String(error.name))) return true;
  return /^(timeout exceeded when trying to connect|Connection terminated)/.test(String(error.message));
}

function told(status: number, { body, headers = {}, retryAfterSeconds }: ErrorData): Problem {
  if (retryAfterSeconds === undefined) return { status, body, headers, internal: false };
  return {
    status,
    body,
    headers: { ...headers, "Retry-After": String(Math.ceil(retryAfterSeconds)) },
    internal: false,
  };
}

export function problemOf(error: unknown, requestId: string): Problem {
  if (isApiError(error)) return told(error.code, error.data);
  if (typeof error === "object" && error !== null && isAway(error)) return told(503, unavailable().data);
  return {
    status: 500,
    body: { detail: "Internal server error.", request_id: requestId },
    headers: {},
    internal: true,
  };
}
