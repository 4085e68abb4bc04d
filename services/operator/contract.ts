/** Actions for operators, over all companies. No HTTP route calls these actions. */
import type { ServiceContract } from "../define.ts";
import { Bool, Line, Nullable, Text, Time, Type, Uuid } from "../lib/shapes.ts";
import { Dependency, None, Queue, Rows, Running, reports, Step } from "./contract-reports.ts";

const EndpointQueue = {
  endpoint_id: Uuid,
  company: Type.String(),
  url: Type.String(),
  pending: Type.Integer(),
  dead: Type.Integer(),
  oldest_pending: Nullable(Time),
  failing_since: Nullable(Time),
  disabled_at: Nullable(Time),
};

/** Times are null until they are reached. */
const SessionRow = {
  session_id: Uuid,
  name: Type.String(),
  /** "open", "over", "ended", "link not used yet" or "link not used". */
  state: Type.String(),
  made_at: Time,
  began_at: Nullable(Time),
  last_used_at: Nullable(Time),
  expires_at: Nullable(Time),
  ended_at: Nullable(Time),
  ip: Nullable(Type.String()),
  user_agent: Nullable(Type.String()),
};

const OpenSession = Type.Object({ id: Uuid, name: Type.String(), expires_at: Time });

export const contract = {
  ...reports,
  consoleLink: {
    summary: "Link to the operators' console, valid once within 5 minutes",
    visibility: "public",
    params: Type.Object({ name: Type.Optional(Line(80)) }),
    returns: Rows({ url: Type.String(), good_until: Time }),
  },
  beginSession: {
    summary: "Start the one-hour session of a link",
    visibility: "public",
    params: Type.Object({ token: Text(100) }),
    returns: OpenSession,
  },
  continueSession: {
    summary: "Check an operator's session; UNAUTHENTICATED if it is over",
    visibility: "public",
    params: Type.Object({ id: Uuid }),
    returns: OpenSession,
  },
  consoleSessions: {
    summary: "Operators' console sessions and links, newest first, including ended ones",
    visibility: "public",
    params: None,
    returns: Rows(SessionRow),
  },
  endSession: {
    summary: "End an operator's console session, or revoke a link",
    visibility: "public",
    params: Type.Object({ session_id: Uuid }),
    returns: Rows({ session_id: Uuid, state: Type.String() }),
  },
  dependencies: {
    summary: "State, response time and version of PostgreSQL, Redis and NATS",
    visibility: "public",
    params: None,
    returns: Rows(Dependency),
  },
  campaigns: {
    summary: "Unfinished campaigns with rate and remaining time",
    visibility: "public",
    params: Type.Object({
      /** Limits the answer to campaigns of this company, without a rate. */
      company_id: Type.Optional(Uuid),
    }),
    returns: Rows(Running),
  },
  failures: {
    summary: "Failed recipients of a campaign, grouped by reason",
    visibility: "public",
    params: Type.Object({ campaign_id: Uuid }),
    returns: Rows({ status: Type.String(), reason: Type.String(), recipients: Type.Integer(), example: Type.String() }),
  },
  senders: {
    summary: "Sender nodes and their current work",
    visibility: "public",
    params: None,
    returns: Rows({
      node: Type.String(),
      waiting_for: Nullable(Type.String()),
      batches: Type.Integer(),
      connections: Type.Integer(),
      in_doubt: Type.Integer(),
      max_in_doubt: Type.Integer(),
      mails_per_second: Type.Number(),
      sent: Type.Integer(),
      failed: Type.Integer(),
      deferred: Type.Integer(),
    }),
  },
  backingOff: {
    summary: "SMTP servers from which senders back off, with reasons",
    visibility: "public",
    params: None,
    returns: Rows({
      node: Type.String(),
      smtp_config_id: Uuid,
      host: Type.String(),
      until: Type.String(),
      last_error: Nullable(Type.String()),
    }),
  },
  slowDomains: {
    summary: "Recipient domains that defer and get less mail for now, per sender",
    visibility: "public",
    params: None,
    returns: Rows({
      node: Type.String(),
      smtp_config_id: Uuid,
      host: Type.String(),
      domain: Type.String(),
      per_minute: Type.Integer(),
      says: Type.String(),
    }),
  },
  limits: {
    summary: "A company's limits and current usage",
    visibility: "public",
    params: Type.Object({ company_id: Uuid }),
    returns: Rows({
      limit: Type.String(),
      allowed: Nullable(Type.Integer()),
      used: Type.Integer(),
      retry_after_seconds: Type.Integer(),
    }),
  },
  why: {
    summary: "Full history of a recipient (by address) or a mail (by id)",
    visibility: "public",
    params: Type.Object({ recipient: Text(254) }),
    returns: Rows(Step),
  },
  webhooks: {
    summary: "Webhook endpoints with waiting or failed deliveries",
    visibility: "public",
    params: None,
    returns: Rows(EndpointQueue),
  },
  batches: {
    summary: "Current work of each sender node, by campaign",
    visibility: "public",
    params: None,
    returns: Rows({
      node: Type.String(),
      company: Type.String(),
      campaign: Type.String(),
      campaign_id: Uuid,
      host: Nullable(Type.String()),
      kind: Type.String(),
      ready: Type.Integer(),
      handed_over: Type.Integer(),
    }),
  },
  deadWebhooks: {
    summary: "Failed deliveries of an endpoint, newest first",
    visibility: "public",
    params: Type.Object({ endpoint_id: Uuid }),
    returns: Rows({
      delivery_id: Uuid,
      event_type: Type.String(),
      created_at: Time,
      attempts: Type.Integer(),
      response_status: Nullable(Type.Integer()),
      last_error: Nullable(Type.String()),
    }),
  },
  reseal: {
    summary: "Seal stored secrets with the current SECRET_KEY, so that SECRET_KEY_OLD can be removed",
    visibility: "public",
    params: None,
    returns: Rows({
      what: Type.String(),
      resealed: Type.Integer(),
      current: Type.Integer(),
      /** Sealed with a key that this service does not have. */
      unreadable: Type.Integer(),
    }),
  },
  requeueWebhooks: {
    summary: "Enable an endpoint and retry its failed webhooks",
    visibility: "public",
    params: Type.Object({ endpoint_id: Uuid }),
    returns: Rows({ requeued: Type.Integer() }),
  },
  queues: {
    summary: "Waiting work: amount and age",
    visibility: "public",
    params: None,
    returns: Rows(Queue),
  },
  health: {
    summary: "Nodes and their dependencies",
    visibility: "public",
    params: None,
    returns: Rows({
      node: Type.String(),
      services: Type.String(),
      ready: Bool,
      /** "starting", "started", "draining", or a sentence if it does not answer. */
      state: Type.String(),
      database: Type.String(),
      redis: Type.String(),
      nats: Type.String(),
      /** Response time of each server, as measured by that node; null if unused or without an answer. */
      database_ms: Nullable(Type.Number()),
      redis_ms: Nullable(Type.Number()),
      nats_ms: Nullable(Type.Number()),
      uptime_seconds: Nullable(Type.Integer()),
      memory_mib: Nullable(Type.Integer()),
    }),
  },
} as const satisfies ServiceContract;
