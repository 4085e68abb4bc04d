/**
 * Limits over a period, one family for all: the mails of a company in an hour, the mails a second of an SMTP configuration,
 * requests per address, daily API calls. Counted in Redis where there is one (all nodes together), else in the process.
 *
 * Never more than `limit` in any rolling window, counted in buckets. A bucket counts until the whole of it is older than
 * the window, so the limit holds for every window and not only for those that begin with a bucket; the price is that
 * room comes back up to one bucket late.
 */
import type { Caller } from "../caller.ts";

export interface Window {
  /** What is limited and whose it is: "hour:<company id>". Memory is bounded for each kind, the part before the colon. */
  key: string;
  /** Null: counted, not limited. */
  limit: number | null;
  windowMs: number;
  /** 0: a fixed window, which begins with the first of it and ends as a whole; the key names the period. */
  buckets: number;
  /** It has a ledger, from which a lost count begins; never evicted from memory before its time. */
  remembered?: boolean;
}

export interface Grant {
  /** 0 to what was asked for. */
  granted: number;
  /** The bucket they were taken from, for giving back. */
  bucket: number;
  /** Until there may be room for one more; 0 when all was granted. */
  retryAfterMs: number;
  /** What the window holds now, with these. */
  used: number;
}

export interface Limiter {
  /** Takes up to `n`. What was refused does not count. */
  take(window: Window, n: number): Promise<Grant>;
  /** What was taken and not used goes back to the bucket it came from. */
  give(window: Window, bucket: number, n: number): Promise<void>;
  /** `retryAfterMs`: until there is more room than now; 0 when nothing is used, or without a limit. */
  used(window: Window): Promise<{ used: number; retryAfterMs: number }>;
  forget(window: Window): Promise<void>;
}

/** A grant in a window with a ledger, with the epoch in which it was counted. */
export interface KnownGrant extends Grant {
  epoch: number;
}

/** A limiter that a LedgerLimiter counts with. */
export interface Counter extends Limiter {
  /** Undefined: the count is lost, and must begin first. */
  takeKnown(window: Window, n: number): Promise<KnownGrant | undefined>;
  /** Begins with what was taken before. Does nothing where this epoch or a later one has begun. */
  begin(window: Window, epoch: number, taken: readonly (readonly [bucket: number, n: number])[]): Promise<void>;
}

/** Durable record of the tokens taken from a window. Its buckets are those of the counts. */
export interface Ledger {
  /** False: a later epoch has begun, and nothing may be taken in this one. */
  write(window: Window, epoch: number, bucket: number, n: number): Promise<boolean>;
  give(window: Window, bucket: number, n: number): Promise<void>;
  /** From now on this epoch alone may write. */
  begin(window: Window): Promise<{ epoch: number; taken: [bucket: number, n: number][] }>;
}

/** Infinity for a fixed window: all of it is bucket 0. */
export const bucketMs = ({ windowMs, buckets }: Window): number => Math.max(1, Math.floor(windowMs / buckets));

/** The oldest bucket that still counts now: the one that holds the moment a window ago. */
export const oldestBucket = (window: Window, now: number): number =>
  Math.floor((now - window.windowMs) / bucketMs(window));

/**
 * How long after it was granted a token may still be used; older ones go back and are asked for again. Whole
 * milliseconds: Redis refuses to expire a key after a fraction of one.
 */
export const tokenLifeMs = (windowSeconds: number): number => Math.max(1_000, Math.ceil((windowSeconds * 1_000) / 60));

/**
 * Longer than the window by a token's life: what counts is when the mail leaves, and that is up to so much later. Buckets of a
 * minute.
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

/** Longer than the window by a token's life, as the hour's: room is back a second late. */
export const minuteWindow = (key: string, limit: number, windowSeconds: number): Window => ({
  key: `domain:${key}`,
  limit,
  windowMs: windowSeconds * 1_000 + tokenLifeMs(windowSeconds),
  buckets: 600,
});

/**
 * For small limits: buckets of a millisecond are the times themselves, at most as many as the limit. A bucket counts to
 * its end, so with a millisecond less room is back after exactly `seconds`.
 */
export function exactWindow(key: string, limit: number, seconds: number): Window {
  const windowMs = seconds * 1_000 - 1;
  return { key, limit, windowMs, buckets: windowMs };
}

const DAY_MS = 86_400_000;

/** A caller's API calls of the UTC day: of the key, or of the company for people. `windowMs` is what is left of the day. */
export function apiCallsToday(caller: Caller, limit: number | null = null, nowMs = Date.now()): Window {
  const key = `api-calls:${caller.apiKeyId ?? caller.companyId}:${new Date(nowMs).toISOString().slice(0, 10)}`;
  return { key, limit, windowMs: DAY_MS - (nowMs % DAY_MS), buckets: 0 };
}
