/** Tables of operator pages: rows of actions, with a label, type and position for each column. */
import { TtlCache } from "../../lib/ttl-cache.ts";
import { messages } from "../messages.ts";
import type { OperatorVisit } from "../request.ts";

type Tables = typeof messages.operator.tables;
type TableName = keyof Tables;

/** Format of a value: a number at the right edge, a time, a state with its colour, a browser in words. */
type Kind = "text" | "number" | "time" | "state" | "browser";

const namesIn = (names: string) => new Set(names.trim().split(/\s+/));

const NUMBERS = namesIn(`
  latency_ms memory_mib waiting mails_per_second batches connections in_doubt max_in_doubt sent failed deferred ready
  handed_over per_minute progress failed_count recipients subscribers emails_this_month used allowed retry_after_seconds
  emails_per_month smtp_per_hour api_calls_per_day media_bytes pending dead attempts response_status`);
const TIMES = namesIn(`
  oldest until sending_paused_at created_at oldest_pending failing_since disabled_at at began_at last_used_at
  expires_at`);
const STATES = namesIn("state status");

function kindOf(column: string): Kind {
  if (NUMBERS.has(column)) return "number";
  if (TIMES.has(column)) return "time";
  if (column === "user_agent") return "browser";
  return STATES.has(column) ? "state" : "text";
}

export interface Table {
  id: TableName;
  title: string;
  empty: string;
  columns: { name: string; label: string; kind: Kind }[];
  rows: object[];
  /** The first column links to this path plus the row's value of `linkBy`. */
  path?: string;
  linkBy?: string;
}

export function tableOf(id: TableName, rows: readonly object[], link: Pick<Table, "path" | "linkBy"> = {}): Table {
  const { title, empty, columns } = messages.operator.tables[id];
  return {
    id,
    title,
    empty,
    columns: Object.entries(columns).map(([name, label]) => ({ name, label, kind: kindOf(name) })),
    rows: [...rows],
    ...link,
  };
}

const POLL_SECONDS = 5;

/** When the page's tables were read, and whether it refreshes itself. */
export const liveOf = ({ path, query }: OperatorVisit, tables: Table[]) => ({
  tables,
  here: `/app/${path}`,
  isLive: query.live !== "no",
  seconds: POLL_SECONDS,
  readAt: new Date().toISOString(),
});

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "3 d 4 h": the two largest parts. */
export function durationOf(seconds: number | null): string | null {
  if (seconds === null) return null;
  if (seconds < MINUTE) return `${seconds} s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ${seconds % MINUTE} s`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h ${Math.floor((seconds % HOUR) / MINUTE)} min`;
  return `${Math.floor(seconds / DAY)} d ${Math.floor((seconds % DAY) / HOUR)} h`;
}

const SHARED_MS = 2_000;
/** Larger than the number of tables. */
const MAX_SHARED = 100;
const latest = new TtlCache<unknown>(SHARED_MS, MAX_SHARED);

/** Shares a result for two seconds, so that many viewers of a live page cost as much as one. */
export const shared = async <T>(name: string, ask: () => Promise<T>): Promise<T> => (await latest.get(name, ask)) as T;
