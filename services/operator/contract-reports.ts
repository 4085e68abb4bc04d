/** Contracts of the actions that report on the whole installation: `status`, `trace` and `doctor`. */
import type { TProperties } from "@sinclair/typebox";
import type { ServiceContract } from "../define.ts";
import { Nullable, OneOf, Text, Time, Type, Uuid } from "../lib/shapes.ts";

export const None = Type.Object({});
export const Rows = <T extends TProperties>(columns: T) => Type.Array(Type.Object(columns));

export const Running = {
  id: Uuid,
  company: Type.String(),
  name: Type.String(),
  status: Type.String(),
  total_emails: Type.Integer(),
  sent_count: Type.Integer(),
  failed_count: Type.Integer(),
  /** Since a previous request; null at the first. */
  mails_per_second: Nullable(Type.Number()),
  /** Null while nothing is sent. */
  seconds_left: Nullable(Type.Integer()),
  scheduled_for: Nullable(Time),
  /** Why nothing is sent, if known. */
  waiting_for: Nullable(Type.String()),
  error: Nullable(Type.String()),
};

export const Step = { at: Time, what: Type.String(), detail: Type.String() };

const WaitsPerSecond = Type.Object({
  hour: Type.Number(),
  day: Type.Number(),
  second: Type.Number(),
  domain: Type.Number(),
});

/** Null values: the node did not answer, or was not asked before. */
const NodeStatus = {
  node: Type.String(),
  services: Type.Array(Type.String()),
  state: Type.String(),
  version: Nullable(Type.String()),
  uptime_seconds: Nullable(Type.Integer()),
  /** Share of one core since the previous request; above 100 if several threads work. */
  cpu_percent: Nullable(Type.Number()),
  memory_bytes: Nullable(Type.Integer()),
  memory_limit_bytes: Nullable(Type.Integer()),
  event_loop_lag_ms: Nullable(Type.Number()),
  sender: Nullable(
    Type.Object({
      mails_per_second: Type.Number(),
      /** Handed to connections and not answered yet. */
      in_flight: Type.Integer(),
      /** Marked as handed over, without a recorded answer; in doubt after a crash. */
      in_doubt: Type.Integer(),
      max_in_doubt: Type.Integer(),
      /** Since the node's start, like the next two. */
      sent: Type.Integer(),
      failed: Type.Integer(),
      deferred: Type.Integer(),
      waiting_for: Nullable(Type.String()),
    }),
  ),
};

export const Dependency = {
  what: Type.String(),
  state: Type.String(),
  version: Nullable(Type.String()),
  latency_ms: Nullable(Type.Number()),
  detail: Type.String(),
};

export const Queue = { queue: Type.String(), waiting: Type.Integer(), oldest: Nullable(Time) };

const Finding = {
  /** "PostgreSQL", "Redis", "NATS", "nodes", "settings", "DNS", "machine" or "service". */
  area: Type.String(),
  check: Type.String(),
  state: OneOf("ok", "warn", "fail"),
  found: Type.String(),
  /** Recommended action; empty for findings without a problem. */
  advice: Type.String(),
};

export const reports = {
  trace: {
    summary: "History of one mail in order of time",
    visibility: "public",
    params: Type.Object({
      /** The mail's id, its Message-ID, or an address (for the newest mail to it). */
      mail: Text(300),
    }),
    returns: Rows(Step),
  },
  status: {
    summary: "Current nodes, campaigns, queues and dependencies; requests within a second share an answer",
    visibility: "public",
    params: None,
    returns: Type.Object({
      at: Time,
      nodes: Rows(NodeStatus),
      /** The first 50 unfinished campaigns, and their total number. */
      campaigns: Rows(Running),
      unfinished_campaigns: Type.Integer(),
      queues: Rows(Queue),
      /** Number of waits of batches for each kind of limit; null at the first request. */
      limiter_waits_per_second: Nullable(WaitsPerSecond),
      backing_off: Rows({ host: Type.String(), until: Type.String(), last_error: Nullable(Type.String()) }),
      slow_domains: Type.Integer(),
      /** The first 5 endpoints that fail or were disabled. */
      failing_webhooks: Rows({
        endpoint_id: Uuid,
        company: Type.String(),
        failing_since: Nullable(Time),
        disabled_at: Nullable(Time),
      }),
      dependencies: Rows(Dependency),
      /** Reasons for empty sections, such as a database that did not answer. */
      errors: Type.Array(Type.String()),
    }),
  },
  doctor: {
    summary: "Problems of dependencies, settings, nodes, clocks, DNS and disk, with advice",
    visibility: "public",
    params: Type.Object({
      /** Version of the files that the command runs from. */
      version: Type.Optional(Text(40)),
    }),
    returns: Rows(Finding),
  },
} as const satisfies ServiceContract;
