/**
 * Looks up what every request waits for: caller, company and plan. Requests with the same key share one call, so a lost
 * call or a frozen node must not hold them for long: the call is repeated, on another node if there is one.
 */
import { call } from "../../call.ts";
import { TtlCache } from "../../lib/ttl-cache.ts";

export const CACHE_MS = 1_000;
const CACHE_ENTRIES = 10_000;

/** A cache for these look-ups; entries are at most a second old. */
export const lookUpCache = <T>(): TtlCache<T> => new TtlCache<T>(CACHE_MS, CACHE_ENTRIES);

const FIRST_TIMEOUT_MS = 1_500;
const SECOND_TIMEOUT_MS = 3_000;
const RETRIES = 3;

const isTimeout = (error: unknown) => (error as Error | undefined)?.name === "RequestTimeoutError";

export const lookUp: typeof call = async (from, action, params, options = {}) => {
  try {
    return await call(from, action, params, { ...options, timeout: FIRST_TIMEOUT_MS, retries: RETRIES });
  } catch (error) {
    if (!isTimeout(error)) throw error;
    return call(from, action, params, { ...options, timeout: SECOND_TIMEOUT_MS, retries: RETRIES });
  }
};
