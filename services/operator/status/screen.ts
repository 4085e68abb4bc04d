/** Renders an overview as lines for a terminal of `width` and `height`. Pure. */
import { fitted, fittedRight } from "../table.ts";
import type { Overview } from "./overview.ts";

export interface Size {
  width: number;
  height: number;
}

/** Pipes and files report no size. */
export interface Terminal {
  columns?: number;
  rows?: number;
}

export const sizeOf = ({ columns = 200, rows = 1_000 }: Terminal): Size => ({ width: columns, height: rows });

const MEBIBYTE = 1024 * 1024;
const number = new Intl.NumberFormat("en");
const formatted = (value: number) => number.format(value);

const DASH = "-";
const orDash = (value: number | null, text: (value: number) => string): string => (value === null ? DASH : text(value));

/** "40s", "12m", "3h 05m", "2d 4h". */
export function duration(seconds: number): string {
  const wholeSeconds = Math.max(0, Math.round(seconds));
  if (wholeSeconds < 60) return `${wholeSeconds}s`;
  const minutes = Math.floor(wholeSeconds / 60);
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours}h ${String(minutes % 60).padStart(2, "0")}m`;
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

const timeOf = (iso: string) => iso.slice(11, 19);

function memoryOf({ memory_bytes, memory_limit_bytes }: Overview["nodes"][number]): string {
  if (memory_bytes === null) return DASH;
  const used = Math.round(memory_bytes / MEBIBYTE);
  return memory_limit_bytes === null ? `${used} MiB` : `${used}/${Math.round(memory_limit_bytes / MEBIBYTE)} MiB`;
}

function summaryOf({ at, nodes }: Overview): string {
  const ready = nodes.filter(({ state }) => state === "ready").length;
  const senders = nodes.flatMap(({ sender }) => sender ?? []);
  const sum = (figureOf: (sender: (typeof senders)[number]) => number) =>
    senders.reduce((total, sender) => total + figureOf(sender), 0);
  const versions = [...new Set(nodes.flatMap(({ version }) => version ?? []))].sort();
  return [
    `Flockmail ${versions.join(" and ")}`.trim(),
    `${ready} of ${nodes.length} nodes ready`,
    `${formatted(Math.round(sum(({ mails_per_second }) => mails_per_second)))} mails/s`,
    `${formatted(sum(({ in_flight }) => in_flight))} in flight`,
    `${formatted(sum(({ in_doubt }) => in_doubt))} in doubt`,
    `${timeOf(at)} UTC`,
  ].join(" · ");
}

const dependencyOf = ({ what, state, version, latency_ms, detail }: Overview["dependencies"][number]): string =>
  [what, version, state, orDash(latency_ms, (ms) => `${ms} ms`), state === "unused" ? "" : detail]
    .filter((part) => part !== null && part !== "" && part !== DASH)
    .join(" ");

function queuesOf({ queues, at }: Overview): string {
  const age = (oldest: string) => (Date.parse(at) - Date.parse(oldest)) / 1_000;
  const waiting = queues
    .filter(({ waiting }) => waiting > 0)
    .map(({ queue, waiting, oldest }) => {
      const since = oldest !== null && age(oldest) >= 1 ? ` (since ${duration(age(oldest))})` : "";
      return `${formatted(waiting)} ${queue}${since}`;
    });
  return waiting.length > 0 ? waiting.join(" · ") : "nothing";
}

const LIMITS = { hour: "hour", day: "day of warm-up", second: "second", domain: "domain" } as const;

/** Causes of slow sending: exhausted limits, mail servers that backed off, domains that defer. */
function heldBackBy({ limiter_waits_per_second: waits, backing_off, slow_domains }: Overview): string {
  const limits = waits
    ? (Object.keys(LIMITS) as (keyof typeof LIMITS)[])
        .filter((limit) => waits[limit] > 0)
        .map((limit) => `limit of the ${LIMITS[limit]} ${waits[limit]}/s`)
    : [];
  const domains = slow_domains > 0 ? [`${slow_domains} slow domains`] : [];
  const servers = backing_off.map(({ host, until, last_error }) =>
    [`${host} backing off until ${timeOf(until)}`, last_error].filter(Boolean).join(": "),
  );
  const all = [...limits, ...domains, ...servers];
  return all.length > 0 ? all.join(" · ") : "nothing";
}

/** `ops requeue` takes an endpoint's id. */
function failingWebhooksOf({ failing_webhooks, at }: Overview): string[] {
  const age = (since: string) => duration((Date.parse(at) - Date.parse(since)) / 1_000);
  const endpoints = failing_webhooks.map(({ company, endpoint_id, failing_since, disabled_at }) => {
    const state = disabled_at ? `disabled for ${age(disabled_at)}` : `failing for ${age(failing_since!)}`;
    return `${endpoint_id} of ${company} ${state}`;
  });
  return endpoints.length > 0 ? [`Webhooks:   ${endpoints.join(" · ")}`] : [];
}

interface Column<T> {
  name: string;
  /** Width in characters; the column without a width gets the remaining space. */
  width?: number;
  right?: boolean;
  text(row: T): string;
}

const NODE_COLUMNS: Column<Overview["nodes"][number]>[] = [
  { name: "NODE", width: 28, text: ({ node }) => node },
  { name: "STATE", width: 9, text: ({ state }) => state },
  { name: "CPU", width: 5, right: true, text: ({ cpu_percent }) => orDash(cpu_percent, (n) => `${Math.round(n)}%`) },
  { name: "MEMORY", width: 12, right: true, text: memoryOf },
  { name: "LAG", width: 6, right: true, text: ({ event_loop_lag_ms }) => orDash(event_loop_lag_ms, (ms) => `${ms}ms`) },
  { name: "UP", width: 7, right: true, text: ({ uptime_seconds }) => orDash(uptime_seconds, duration) },
  {
    name: "MAILS/S",
    width: 7,
    right: true,
    text: ({ sender }) => (sender ? formatted(Math.round(sender.mails_per_second)) : ""),
  },
  { name: "FLIGHT", width: 6, right: true, text: ({ sender }) => (sender ? formatted(sender.in_flight) : "") },
  {
    name: "DOUBT",
    width: 9,
    right: true,
    text: ({ sender }) => (sender ? `${sender.in_doubt}/${sender.max_in_doubt}` : ""),
  },
  { name: "DEFERRED", width: 8, right: true, text: ({ sender }) => (sender ? formatted(sender.deferred) : "") },
  {
    name: "SERVICES",
    text: ({ services, sender }) =>
      [sender?.waiting_for && `waits for ${sender.waiting_for};`, ...services].filter(Boolean).join(" "),
  },
];

const doneOf = ({ sent_count, failed_count, total_emails }: Overview["campaigns"][number]) =>
  `${formatted(sent_count + failed_count)}/${formatted(total_emails)}`;

/** Remaining time at the current rate, or the start of a scheduled campaign. */
function leftOf({ seconds_left, scheduled_for, status }: Overview["campaigns"][number]): string {
  if (status === "scheduled" && scheduled_for) return scheduled_for.slice(5, 16).replace("T", " ");
  return orDash(seconds_left, duration);
}

const CAMPAIGN_COLUMNS: Column<Overview["campaigns"][number]>[] = [
  { name: "CAMPAIGN", width: 24, text: ({ name }) => name },
  { name: "COMPANY", width: 18, text: ({ company }) => company },
  { name: "STATUS", width: 9, text: ({ status }) => status },
  { name: "DONE", width: 19, right: true, text: doneOf },
  {
    name: "RATE",
    width: 8,
    right: true,
    text: ({ mails_per_second }) => orDash(mails_per_second, (n) => `${formatted(n)}/s`),
  },
  { name: "LEFT", width: 11, right: true, text: leftOf },
  { name: "WAITS FOR", text: ({ waiting_for, error }) => error ?? waiting_for ?? "" },
];
const ID_COLUMN: (typeof CAMPAIGN_COLUMNS)[number] = { name: "ID", width: 36, text: ({ id }) => id };
/** Narrower terminals need the space for the reason of waiting; `--json` has the ids. */
const ID_FROM_WIDTH = 150;
const campaignColumns = (width: number) =>
  width < ID_FROM_WIDTH ? CAMPAIGN_COLUMNS : [ID_COLUMN, ...CAMPAIGN_COLUMNS];

const GAP = 1;

function cell<T>({ width, right, text }: Column<T>, row: T, rest: number): string {
  const given = width ?? Math.max(0, rest);
  return right ? fittedRight(text(row), given) : fitted(text(row), given);
}

/**
 * A heading and one row each, in at most `most` lines. The last line says how many more there are (`of` is the total).
 */
function section<T>(
  columns: Column<T>[],
  rows: readonly T[],
  width: number,
  maxRows: number,
  total = rows.length,
): string[] {
  if (maxRows < 2) return [];
  const fixed = columns.reduce((sum, column) => sum + (column.width ?? 0) + GAP, 0);
  const line = (cells: string[]) => fitted(cells.join(" "), width).trimEnd();
  const heading = line(
    columns.map(({ name, right, width: own }) => {
      const given = own ?? Math.max(0, width - fixed);
      return right ? fittedRight(name, given) : fitted(name, given);
    }),
  );
  const fit = total <= maxRows - 1 ? total : maxRows - 2;
  const shownRows = rows.slice(0, fit).map((row) => line(columns.map((column) => cell(column, row, width - fixed))));
  const hiddenRows = total - shownRows.length;
  return [heading, ...shownRows, ...(hiddenRows > 0 ? [fitted(`… and ${hiddenRows} more`, width).trimEnd()] : [])];
}

/** Nodes get a third of the screen if campaigns need the rest. */
const nodesMost = (room: number, nodes: number, campaigns: number) =>
  Math.max(3, Math.min(nodes + 1, room - Math.min(campaigns + 1, Math.ceil((2 * room) / 3))));

export function screenOf(overview: Overview | undefined, { width, height }: Size, notice = ""): string[] {
  const cut = (text: string) => fitted(text, width).trimEnd();
  if (!overview) return [cut(notice)];
  const { nodes, campaigns, unfinished_campaigns, dependencies, errors } = overview;
  const head = [
    summaryOf(overview),
    `Depends on: ${dependencies.map(dependencyOf).join(" · ")}`,
    `Waiting:    ${queuesOf(overview)}`,
    `Held back:  ${heldBackBy(overview)}`,
    ...failingWebhooksOf(overview),
    ...errors.map((error) => `Unavailable: ${error}`),
    ...(notice ? [notice] : []),
  ].map(cut);
  // Empty lines between the sections.
  const room = height - head.length - 2;
  const maxNodes = nodesMost(room, nodes.length, unfinished_campaigns);
  const upper = section(NODE_COLUMNS, nodes, width, maxNodes);
  const lower =
    campaigns.length > 0
      ? section(campaignColumns(width), campaigns, width, room - upper.length, unfinished_campaigns)
      : [cut("No campaign is waiting or being sent.")];
  return [...head, "", ...upper, "", ...lower].slice(0, Math.max(1, height));
}
