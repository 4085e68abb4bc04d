/** Builds a series without gaps from hourly counts: by hour for the first days, then by day, then by week. */
import { shortOf } from "./times.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;

const MAX_HOURS = 72;
const MAX_DAYS = 366;

interface Hit {
  /** Start of an hour in the company's time zone: "2026-12-01T09:00:00". */
  clock: string;
  opens: number;
  clicks: number;
}

interface Timeline {
  step: "hour" | "day" | "week";
  /** Start of each period in the time zone of the counts, as pages show it. */
  dates: string[];
  opens: number[];
  clicks: number[];
}

const stepFor = (spanMs: number): [Timeline["step"], number] => {
  if (spanMs <= MAX_HOURS * HOUR_MS) return ["hour", HOUR_MS];
  return spanMs <= MAX_DAYS * DAY_MS ? ["day", DAY_MS] : ["week", WEEK_MS];
};

const msOf = ({ clock }: Hit): number => Date.parse(`${clock}Z`);

const dateOf = (atMs: number, step: Timeline["step"]): string =>
  shortOf(new Date(atMs).toISOString().slice(0, step === "hour" ? 16 : 10));

/** `hits` must be sorted by time; returns undefined if there are none. Weeks begin on the weekday of the first one. */
export function timelineOf(hits: readonly Hit[]): Timeline | undefined {
  const [first, last] = [hits[0], hits.at(-1)];
  if (!first || !last) return undefined;
  const [step, stepMs] = stepFor(msOf(last) - msOf(first));
  const unit = step === "hour" ? HOUR_MS : DAY_MS;
  const beganAt = Math.floor(msOf(first) / unit) * unit;
  const indexOf = (hit: Hit) => Math.floor((msOf(hit) - beganAt) / stepMs);
  const dates = Array.from({ length: indexOf(last) + 1 }, (_, n) => dateOf(beganAt + n * stepMs, step));
  const opens = dates.map(() => 0);
  const clicks = dates.map(() => 0);
  for (const hit of hits) {
    opens[indexOf(hit)]! += hit.opens;
    clicks[indexOf(hit)]! += hit.clicks;
  }
  return { step, dates, opens, clicks };
}
