/**
 * `timezone: "recipient"`: `scheduled_for` is a clock, and each recipient gets the mail when it is reached where they are. The
 * clock is the one that was written, whatever its offset, and is stored and answered as if it were UTC: an answer's
 * `scheduled_for` that is sent again means the same.
 */

/** The first zone's clock is this far ahead of UTC (Pacific/Kiritimati), the last one's behind it (Etc/GMT+12). */
const FIRST_ZONE_MS = 14 * 3_600_000;
const LAST_ZONE_MS = 12 * 3_600_000;

const OFFSET = /(?:z|[+-]\d\d:?\d\d)$/i;

/** "2026-12-01T09:00:00+02:00" is nine o'clock: 09:00 UTC. */
export const clockOf = (time: string): Date => new Date(time.replace(OFFSET, "Z"));

/** Before this it is reached nowhere. */
export const earliestStart = (clock: Date): Date => new Date(clock.getTime() - FIRST_ZONE_MS);

/** Where it is past already mails go at once; where it is past everywhere, it is a mistake. */
export const isStillAhead = (clock: Date): boolean => clock.getTime() + LAST_ZONE_MS > Date.now();
