/**
 * Defines rate limits over a period: emails of a company per hour, emails of an SMTP configuration per second, requests
 * per address, daily API calls. Counted in Redis for all nodes together if configured, else in the process.
 *
 * Never more than `limit` in any rolling window, counted in buckets. A bucket counts until all of it is older than the
 * window, so the limit holds for every window, not only for those aligned to buckets; in return, capacity is freed up
 * to one bucket late.
 */
import type { Caller } from "../caller.ts";

export interface Window {
  /** Kind and owner of the limit: "hour:<company id>". Memory is bounded per kind, the part before the colon. */
  key: string;
  /** Null: counted but not limited. */
  limit: number | null;
  windowMs: number;
  /** 0: a fixed window, which starts with its first token and ends as a whole; the key names the period. */
  buckets: number;
  /** The window has a ledger from which a lost count restarts; never evicted from memory early. */
  remembered?: boolean;
}

export interface Grant {
  /** Between 0 and the requested number. */
  granted: number;
  /** Bucket of the tokens, for returning them. */
  bucket: number;
  /** Time until one more token may be available; 0 if all were granted. */
  retryAfterMs: number;
  /** Current count of the window, including these. */
  used: number;
}

export interface Limiter {
  /** Takes up to `n` tokens. Refused ones do not count. */
  take(window: Window, n: number): Promise<Grant>;
  /** Returns unused tokens to their bucket. */
  giveBack(window: Window, bucket: number, n: number): Promise<void>;
  /** `retryAfterMs`: time until more capacity is free; 0 if nothing is used, or without a limit. */
  used(window: Window): Promise<{ used: number; retryAfterMs: number }>;
  forget(window: Window): Promise<void>;
}

/** A grant with the epoch in which it was counted, for windows with a ledger. */
export interface KnownGrant extends Grant {
  epoch: number;
}

/** Counter used by a LedgerLimiter. */
export interface Counter extends Limiter {
  /** Undefined: the count is lost and must be restarted first. */
  takeKnown(window: Window, n: number): Promise<KnownGrant | undefined>;
  /** Restarts the count with earlier grants. No effect if this epoch or a later one has started. */
  begin(window: Window, epoch: number, taken: readonly (readonly [bucket: number, n: number])[]): Promise<void>;
}

/** Durable record of the tokens taken from a window, in the same buckets as the count. */
export interface Ledger {
  /** False: a later epoch has started, and nothing may be taken in this one. */
  write(window: Window, epoch: number, bucket: number, n: number): Promise<boolean>;
  giveBack(window: Window, bucket: number, n: number): Promise<void>;
  /** Starts an epoch; from now on only it may write. */
  begin(window: Window): Promise<{ epoch: number; taken: [bucket: number, n: number][] }>;
}

/** Infinity for a fixed window: all of it is bucket 0. */
export const bucketMs = ({ windowMs, buckets }: Window): number => Math.max(1, Math.floor(windowMs / buckets));

/** The oldest bucket that still counts: the one that contains the time one window ago. */
export const oldestBucket = (window: Window, now: number): number =>
  Math.floor((now - window.windowMs) / bucketMs(window));

/**
 * Life of a token after its grant; expired ones are returned and requested again. Whole milliseconds: Redis refuses
 * fractions in expiry times.
 */
export const tokenLifeMs = (windowSeconds: number): number => Math.max(1_000, Math.ceil((windowSeconds * 1_000) / 60));

/**
 * One-minute buckets, kept for the window plus a token's life: an email counts when it is sent, up to that much later.
 */
export const hourWindow = (companyId: string, limit: number | null, windowSeconds: number): Window => ({
  key: `hour:${companyId}`,
  limit,
  windowMs: windowSeconds * 1_000 + tokenLifeMs(windowSeconds),
  buckets: 61,
  remembered: true,
});

export const secondWindow = (smtpConfigId: string, perSecond: number): Window => ({
  key: `second:${smtpConfigId}`,
  limit: perSecond,
  windowMs: 1_000,
  buckets: 20,
});

/** Keeps buckets for the window plus a token's life, as for the hour; capacity is freed a second late. */
export const minuteWindow = (key: string, limit: number, windowSeconds: number): Window => ({
  key: `domain:${key}`,
  limit,
  windowMs: windowSeconds * 1_000 + tokenLifeMs(windowSeconds),
  buckets: 600,
});

/**
 * For small limits: one-millisecond buckets are exact times, at most as many as the limit. A bucket counts to its end,
 * so the window is a millisecond shorter to free capacity after exactly `seconds`.
 */
export function exactWindow(key: string, limit: number, seconds: number): Window {
  const windowMs = seconds * 1_000 - 1;
  return { key, limit, windowMs, buckets: windowMs };
}

const DAY_MS = 86_400_000;

/** A caller's API calls per UTC day: by key, or by company for people. `windowMs` is the rest of the day. */
export function apiCallsToday(caller: Caller, limit: number | null = null, nowMs = Date.now()): Window {
  const key = `api-calls:${caller.apiKeyId ?? caller.companyId}:${new Date(nowMs).toISOString().slice(0, 10)}`;
  return { key, limit, windowMs: DAY_MS - (nowMs % DAY_MS), buckets: 0 };
}
