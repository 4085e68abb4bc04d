import type { ServiceContract } from "../define.ts";
import { Bool, Nullable, Type, Uuid } from "../lib/shapes.ts";
import type { SerializedResult } from "./claim/ask-owners.ts";
import { configs } from "./contract-configs.ts";
import { dkim } from "./contract-dkim.ts";
import { testSend } from "./contract-test-send.ts";

/** A batch of recipients being delivered by the node. */
const Batch = Type.Object({
  campaign_id: Uuid,
  company_id: Uuid,
  smtp_config_id: Uuid,
  kind: Type.String(),
  ready: Type.Integer(),
  handed_over: Type.Integer(),
});

const Server = Type.Object({
  smtp_config_id: Uuid,
  host: Type.String(),
  connections: Type.Integer(),
  max_connections: Type.Integer(),
  in_doubt: Type.Integer(),
  mails_per_second: Type.Number(),
  backing_off_until: Nullable(Type.String()),
  last_error: Nullable(Type.String()),
  /** Recipient domains that defer: the rate at which this node sends to them, and their replies. */
  slow_domains: Type.Array(Type.Object({ domain: Type.String(), per_minute: Type.Integer(), says: Type.String() })),
});

/** Identifies a chunk's lease by its fence, or (`no` is null) an individually claimed recipient by its tries. */
const Lease = Type.Object({
  campaign_id: Uuid,
  no: Nullable(Type.Integer()),
  seq: Type.Integer(),
  fence: Type.Integer(),
});

/** Internal actions for other services and operators; none is routed. */
const work = {
  hourRoom: {
    summary: "How many mails the company may still hand to SMTP within the rolling hour",
    visibility: "public",
    params: Type.Object({}),
    returns: Type.Object({
      /** Null: the plan has no hourly limit. */
      limit: Nullable(Type.Integer()),
      used: Type.Integer(),
      room: Nullable(Type.Integer()),
      /** Seconds until more capacity is available; the whole window if nothing is used; 0 without a limit. */
      retry_after_seconds: Type.Integer(),
    }),
  },
  checkDeliverability: {
    summary: "Look at what receivers will find, unless that was done today; the checks that fail",
    visibility: "public",
    description:
      "Nothing is looked up for a sender in a reserved domain (`.test`, `.example`, `.invalid`, `.localhost`): its mail is a trial.",
    params: Type.Object({ id: Uuid }),
    returns: Type.Object({ failures: Type.Array(Type.Object({ name: Type.String(), help: Type.String() })) }),
  },
  giveUpLeases: {
    summary: "What became of leases of this node that have run out; it hands over nothing more of them",
    visibility: "public",
    params: Type.Object({ leases: Type.Array(Lease) }),
    returns: Type.Object({
      owner: Type.String(),
      unsettled: Type.Array(Lease),
      settled: Type.Array(Lease),
      results: Type.Array(Type.Unsafe<SerializedResult>({ type: "object" })),
    }),
  },
  history: {
    summary: "The history of the database in which this node has written all it knows",
    visibility: "public",
    params: Type.Object({}),
    returns: Type.Object({ settled: Nullable(Type.String()) }),
  },
  status: {
    summary: "What this sender node is doing",
    visibility: "public",
    params: Type.Object({}),
    returns: Type.Object({
      node: Type.String(),
      stopping: Bool,
      /** Reason why nothing can be sent now (database or Redis unavailable), or null. */
      waiting_for: Nullable(Type.String()),
      in_doubt: Type.Integer(),
      max_in_doubt: Type.Integer(),
      sent: Type.Integer(),
      failed: Type.Integer(),
      deferred: Type.Integer(),
      /** Number of times since start that a batch had to wait for each kind of limit. */
      limiter_waits: Type.Object({
        hour: Type.Integer(),
        day: Type.Integer(),
        second: Type.Integer(),
        domain: Type.Integer(),
      }),
      batches: Type.Array(Batch),
      servers: Type.Array(Server),
    }),
  },
} as const satisfies ServiceContract;

export const contract = { ...configs, ...dkim, ...testSend, ...work } as const satisfies ServiceContract;
