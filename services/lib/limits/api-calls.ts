import type { Caller } from "../caller.ts";

const DAY_SECONDS = 86_400;

/** The counter of a caller's API calls today: per key, or per company for people; and how long it is needed. */
export function apiCallsToday(caller: Caller, nowMs = Date.now()): { key: string; secondsLeft: number } {
  const day = new Date(nowMs).toISOString().slice(0, 10);
  const secondsLeft = DAY_SECONDS - Math.floor((nowMs / 1_000) % DAY_SECONDS);
  return { key: `api-calls:${caller.apiKeyId ?? caller.companyId}:${day}`, secondsLeft };
}
