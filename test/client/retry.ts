/**
 * Decides when to repeat a request: "Retry 429 and 5xx with exponential backoff, and not before Retry-After; do not
 * retry another 4xx unchanged". A request that may have been executed is repeated only if it is idempotent.
 */
import type { OperationEntry } from "./generated.ts";

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;

/** Idempotent by its method or its Idempotency-Key. */
const isIdempotent = ({ method, takesKey }: OperationEntry) =>
  method === "GET" || method === "PUT" || method === "DELETE" || takesKey === true;

export function isRepeatable(entry: OperationEntry, outcome: Response | Error): boolean {
  // The outcome is unknown.
  if (!(outcome instanceof Response)) return isIdempotent(entry);
  // Refused before anything was done.
  if (outcome.status === 429) return true;
  if (outcome.status === 503 && outcome.headers.has("retry-after")) return true;
  return outcome.status >= 500 && isIdempotent(entry);
}

/** Seconds, or a date. */
function retryAfterMs(value: string | null): number {
  if (value === null || value === "") return 0;
  const seconds = Number(value);
  return Number.isNaN(seconds) ? Math.max(0, Date.parse(value) - Date.now()) || 0 : seconds * 1_000;
}

/** Doubles each time, with a random factor between a half and one, so that many clients do not return at once. */
export function pauseMs(outcome: Response | Error, retries: number): number {
  const longest = Math.min(FIRST_PAUSE_MS * 2 ** retries, LONGEST_PAUSE_MS);
  const backOff = longest / 2 + (Math.random() * longest) / 2;
  const asked = outcome instanceof Response ? retryAfterMs(outcome.headers.get("retry-after")) : 0;
  return Math.max(asked, backOff);
}
