/** Clocks of a timezone, as people type them ("2026-12-01T09:00"), and instants. Pure. */

const CLOCK = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/;

/** Whether it is what a field for date and time gives. */
export const isClock = (text: string): boolean => CLOCK.test(text) && !Number.isNaN(Date.parse(`${text}Z`));

// A formatter takes 30 µs to make, and a company has one timezone.
const formatters = new Map<string, Intl.DateTimeFormat>();
const MAX_FORMATTERS = 100;

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = formatters.get(zone);
  if (known) return known;
  if (formatters.size >= MAX_FORMATTERS) formatters.clear();
  // The one whose parts are those of a field for date and time.
  const made = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" });
  formatters.set(zone, made);
  return made;
}

/** "2026-12-01T09:00", without seconds: what the clock there shows at the instant. */
export const clockAt = (instant: Date, zone: string): string =>
  formatterOf(zone).format(instant).replace(" ", "T").slice(0, 16);

const asUtc = (clock: string) => Date.parse(`${clock}Z`);

/**
 * The instant at which the clock there shows this. A clock that a change to summer time leaves out is moved on by the hour
 * left out; of one that comes twice the second counts, as where the reader's hour does.
 */
export function instantOf(clock: string, zone: string): Date {
  const wanted = asUtc(clock);
  const offsetAt = (ms: number) => asUtc(clockAt(new Date(ms), zone)) - Math.floor(ms / 60_000) * 60_000;
  const candidates = [wanted - 86_400_000, wanted + 86_400_000].map((near) => wanted - offsetAt(near));
  const fitting = candidates.filter((ms) => offsetAt(ms) === wanted - ms);
  return new Date(fitting.length > 0 ? Math.max(...fitting) : Math.max(...candidates));
}
