/** Formats times for pages in the company's time zone, which is shown beside each. */

const formats = new Map<string, Intl.DateTimeFormat>();

/** Formats as "1 Dec 2026, 09:00" in a zone; in UTC if PostgreSQL knows the zone and Node does not. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const existing = formats.get(zone);
  if (existing) return existing;
  const options = { dateStyle: "medium", timeStyle: "short", timeZone: zone } as const;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-GB", options);
  } catch {
    format = new Intl.DateTimeFormat("en-GB", { ...options, timeZone: "UTC" });
  }
  formats.set(zone, format);
  return format;
}

/** Formats without the zone's name. */
export const clockOf = (iso: string, zone: string): string => formatOf(zone).format(new Date(iso));

export const dayOf = (iso: string, zone: string): string => clockOf(iso, zone).replace(/,.*$/, "");

/** Formats the clock "2026-12-01T09:00:00" of some zone, or the day "2026-12-01", in the same way. */
export const shortOf = (clock: string): string =>
  clock.length > 10 ? clockOf(`${clock.slice(0, 16)}Z`, "UTC") : dayOf(clock, "UTC");

export const timeOf = (iso: string | null, zone: string): string =>
  iso === null ? "–" : `${clockOf(iso, zone)} ${zone === "UTC" ? zone : `(${zone})`}`;

const SPANS = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;
const MAX_RELATIVE_MS = 7 * 86_400_000;

// Created at first use, because loading the language data takes time.
let relative: Intl.RelativeTimeFormat | undefined;

/** Formats as "in 3 hours" or "3 hours ago"; undefined beyond a week, empty within a minute. */
export function soonOf(iso: string, now = Date.now()): string | undefined {
  const ms = Date.parse(iso) - now;
  if (!(Math.abs(ms) < MAX_RELATIVE_MS)) return undefined;
  const [unit, length] = SPANS.find(([, one]) => Math.abs(ms) >= one) ?? [];
  if (!unit) return "";
  relative ??= new Intl.RelativeTimeFormat("en");
  return relative.format(Math.trunc(ms / length!), unit);
}

/** Formats as "3 hours ago" within a week, otherwise as a day. */
export const agoOf = (iso: string, zone: string, now = Date.now()): string =>
  (soonOf(iso, now) ?? dayOf(iso, zone)) || "just now";

/** A length of time in its largest unit: "4 minutes". */
export function lengthOf(ms: number): string {
  const [unit, length] = SPANS.find(([, one]) => ms >= one) ?? ["second", 1_000];
  const n = Math.max(1, Math.round(ms / length));
  return `${n} ${unit}${n === 1 ? "" : "s"}`;
}

const dates = new Map<string, Intl.DateTimeFormat>();

/** Formats as "30 November at 01:10" in a zone; in UTC, and says so, if Node does not know the zone. */
export function dateInWords(iso: string, zone: string): string {
  const options = { day: "numeric", month: "long", hour: "2-digit", minute: "2-digit" } as const;
  try {
    const format = dates.get(zone) ?? new Intl.DateTimeFormat("en-GB", { ...options, timeZone: zone });
    dates.set(zone, format);
    return format.format(new Date(iso));
  } catch {
    return `${dateInWords(iso, "UTC")} UTC`;
  }
}

let inWords: Intl.DateTimeFormat | undefined;

/** Formats the clock "2031-07-01T09:00" as "Tuesday 1 July 2031 at 09:00"; other text stays unchanged. */
export function clockInWords(clock: string): string {
  const at = new Date(`${clock}Z`);
  inWords ??= new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "short", timeZone: "UTC" });
  return Number.isNaN(at.getTime()) ? clock : inWords.format(at);
}
