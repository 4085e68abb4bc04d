/**
 * Never more than `limit` in any rolling window, counted in buckets. A bucket counts until the whole of it is older than
 * the window, so the limit holds for every window and not only for those that begin with a bucket; the price is that
 * room comes back up to one bucket late.
 *
 * In Redis where there is one (all nodes together), else in the process.
 */
export interface Window {
  /** Whose, and what: "hour:<company id>". */
  key: string;
  /** Null: counted, not limited. */
  limit: number | null;
  windowMs: number;
  buckets: number;
  /** What a restart forgets of it is counted again from the rows (hour-history.ts). */
  remembered?: boolean;
}

export interface Grant {
  /** 0 to what was asked for. */
  granted: number;
  /** The bucket they were taken from, for giving back. */
  bucket: number;
  /** Until there may be room for one more; 0 when all was granted. */
  retryAfterMs: number;
}

export interface Limiter {
  take(window: Window, n: number): Promise<Grant>;
  /** What was taken and not used goes back to the bucket it came from. */
  give(window: Window, bucket: number, n: number): Promise<void>;
  /** `retryAfterMs`: until there is more room than now; 0 when nothing is used, or without a limit. */
  used(window: Window): Promise<{ used: number; retryAfterMs: number }>;
}

export const bucketMs = ({ windowMs, buckets }: Window): number => Math.max(1, Math.floor(windowMs / buckets));

/** The oldest bucket that still counts now: the one that holds the moment a window ago. */
export const oldestBucket = (window: Window, now: number): number =>
  Math.floor((now - window.windowMs) / bucketMs(window));

/** How long after it was granted a token may still be used; older ones go back and are asked for again. */
export const tokenLifeMs = (windowSeconds: number): number => Math.max(1_000, (windowSeconds * 1_000) / 60);

/** Longer than the window by a token's life: what counts is when the mail leaves, and that is up to so much later. */
export const hourWindow = (companyId: string, limit: number | null, windowSeconds: number): Window => ({
  key: `hour:${companyId}`,
  limit,
  windowMs: windowSeconds * 1_000 + tokenLifeMs(windowSeconds),
  buckets: 60,
  remembered: true,
});

export const secondWindow = (smtpConfigId: string, perSecond: number): Window => ({
  key: `second:${smtpConfigId}`,
  limit: perSecond,
  windowMs: 1_000,
  buckets: 20,
});
