/** When a delivery that failed is tried again. */
const RETRY_AFTER_SECONDS = [5, 30, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600];

/** Seconds until the next try after `attempts` failed ones; null when it is dead. */
export const retryAfterSeconds = (attempts: number): number | null => RETRY_AFTER_SECONDS[attempts - 1] ?? null;
