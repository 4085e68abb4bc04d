/**
 * One look for all that has nothing to do: what repeats in this process and found nothing is not run again to find nothing, but
 * one statement asks for all of it every second. A run costs half a millisecond of CPU where everything is cold, and there were
 * eleven each second in an idle process: half of what it took.
 *
 * What is asked are SELECTs with an order that an index of just these rows has (not the primary key's: that has all rows).
 * `exists` would lose it, and PostgreSQL reads a large table from its beginning then, where statistics of busier days promise a
 * row soon.
 */
import { query } from "./db.ts";

/** Looks come at multiples of it, so that those who wait for as long share them. */
const LOOK_EVERY_MS = 1_000;
/**
 * Whatever the look says: a question that does not see some work must not leave it for ever. Of those that ask in the same second
 * one runs then, the next at the look after: at once each would open a connection, seven milliseconds of CPU for half a one of work.
 */
const RUN_AT_LEAST_EVERY_MS = 60_000;

interface Waiting {
  /** Finds a row where there may be something to do. */
  sql: string;
  mostMs: number;
  lookAtMs: number;
  untilMs: number;
  found: () => void;
}

const waiting = new Set<Waiting>();
let timer: NodeJS.Timeout | undefined;
let isLooking = false;

/** The last of these times that is at most so far away. */
const lookWithin = (nowMs: number, mostMs: number): number =>
  mostMs < LOOK_EVERY_MS ? nowMs + mostMs : Math.floor((nowMs + mostMs) / LOOK_EVERY_MS) * LOOK_EVERY_MS;

function arm(): void {
  clearTimeout(timer);
  if (waiting.size === 0 || isLooking) return;
  const nextMs = Math.min(...[...waiting].map(({ lookAtMs }) => lookAtMs));
  timer = setTimeout(() => void look(), Math.max(0, nextMs - performance.now()));
}

/** A statement that says of each question whether it finds a row. */
export const lookOnce = (questions: readonly string[]): string =>
  `select array[${questions.map((sql) => `(select true from (${sql} limit 1) work)`).join(",\n")}] as found`;

/** Where the database cannot say, whoever waits runs, and meets what is wrong. */
async function haveWork(asked: readonly Waiting[]): Promise<boolean[]> {
  try {
    const [row] = await query<{ found: (true | null)[] }>(lookOnce(asked.map(({ sql }) => sql)));
    return row!.found.map(Boolean);
  } catch {
    return asked.map(() => true);
  }
}

async function look(): Promise<void> {
  isLooking = true;
  const nowMs = performance.now();
  // A timer may be a millisecond early.
  const asked = [...waiting].filter(({ lookAtMs }) => lookAtMs <= nowMs + 1);
  const found = asked.length > 0 ? await haveWork(asked) : [];
  isLooking = false;
  const unasked = asked.find(({ untilMs }, i) => !found[i] && nowMs >= untilMs);
  for (const [i, one] of asked.entries()) {
    one.lookAtMs = lookWithin(nowMs + 1, one.mostMs);
    if ((found[i] || one === unasked) && waiting.delete(one)) one.found();
  }
  arm();
}

/** Calls `found` once, when `sql` finds a row; it is asked every `mostMs` at least. What is returned ends it. */
export function lookFor(sql: string, mostMs: number, found: () => void): () => void {
  const nowMs = performance.now();
  const one = { sql, mostMs, lookAtMs: lookWithin(nowMs, mostMs), untilMs: nowMs + RUN_AT_LEAST_EVERY_MS, found };
  waiting.add(one);
  arm();
  return () => {
    waiting.delete(one);
    arm();
  };
}
