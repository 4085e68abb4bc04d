/**
 * `timezone: "recipient"`: `scheduled_for` is a wall-clock time, and each recipient gets the email when it is reached
 * in their time zone. Its offset is ignored, and it is stored and returned as UTC, so that a returned `scheduled_for`
 * can be sent again unchanged.
 */

/** Earliest time zone: UTC+14 (Pacific/Kiritimati). The latest is UTC-12 (Etc/GMT+12). */
const FIRST_ZONE_MS = 14 * 3_600_000;
const LAST_ZONE_MS = 12 * 3_600_000;

const OFFSET = /(?:z|[+-]\d\d:?\d\d)$/i;

/** "2026-12-01T09:00:00+02:00" means nine o'clock, stored as 09:00 UTC. */
export const clockOf = (time: string): Date => new Date(time.replace(OFFSET, "Z"));

/** Instant at which the first time zone reaches it. */
export const earliestStart = (clock: Date): Date => new Date(clock.getTime() - FIRST_ZONE_MS);

/** A time that has passed in some zones sends there at once; one that has passed everywhere is a mistake. */
export const isStillAhead = (clock: Date): boolean => clock.getTime() + LAST_ZONE_MS > Date.now();
