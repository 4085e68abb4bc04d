/**
 * When a deferred recipient is tried again: after about a minute, then twice as long each time up to 8 hours, so that 12
 * tries span about 24 hours. A fifth more or less at random: what was deferred together must not come back together.
 */
const BASE_SECONDS = 60;
const MAX_FACTOR = 480;
const JITTER = 0.2;

export function retryAfterMs(tries: number, baseMs = BASE_SECONDS * 1_000, random: () => number = Math.random): number {
  const factor = Math.min(2 ** (Math.max(1, tries) - 1), MAX_FACTOR);
  return Math.round(factor * baseMs * (1 + JITTER * (2 * random() - 1)));
}

/**
 * How long a server that cannot be reached is left alone: 2 seconds (a thirtieth of the retry base), doubling up to 5
 * minutes. Its mail is not touched meanwhile.
 */
export function backOffMs(failures: number, baseMs = BASE_SECONDS * 1_000, random: () => number = Math.random): number {
  const ms = Math.min((baseMs / 30) * 2 ** Math.max(0, failures - 1), baseMs * 5);
  return Math.round(ms * (1 + JITTER * (2 * random() - 1)));
}
