/**
 * What every request waits for: who calls, in which company, within which plan. All requests with the same key share one
 * answer, so that a call which is lost, or went to a node that is frozen, must not hold them long: it is asked again, of
 * another node where there is one.
 */
import { call } from "../../call.ts";
import { TtlCache } from "../../lib/ttl-cache.ts";

export const CACHE_MS = 1_000;
const CACHE_ENTRIES = 10_000;

/** For what was looked up: at most a second old. */
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
