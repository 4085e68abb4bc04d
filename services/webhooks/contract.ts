import { WEBHOOK_EVENT_TYPES } from "../../models/email-event.ts";
import { WEBHOOK_DELIVERY_STATUSES } from "../../models/webhook-delivery.ts";
import type { ServiceContract } from "../define.ts";
import {
  Bool,
  CreatedAt,
  Described,
  Filter,
  Id,
  ListQuery,
  Nothing,
  Nullable,
  OneOf,
  Page,
  Time,
  Type,
  Uuid,
} from "../lib/shapes.ts";

const EventType = OneOf(...WEBHOOK_EVENT_TYPES);
const EVENT_TYPES =
  "`campaign.completed`: the campaign ended with `metadata.status` (completed, partial, failed). `subscribed`: a person became active or joined a list by the public form; `confirmed`: by the link in a mail. The latter two are not about a mail; `metadata` contains the subscriber and the lists.";
const Secret = Type.String({
  description: "`whsec_` followed by 32 random bytes in base64 (Standard Webhooks).",
  examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
});

const Endpoint = Type.Object({
  id: Id,
  url: Described(Type.String({ format: "uri" }), "URL that receives the events.", "https://example.com/hooks/mail"),
  events: Described(Type.Array(EventType), "Event types to deliver."),
  failing_since: Described(
    Nullable(Time),
    "Time since which every attempt has failed; the endpoint is disabled after three days.",
  ),
  disabled_at: Described(
    Nullable(Time),
    "Time since which nothing is delivered: on request (`failing_since` is null), or after three days of failures.",
  ),
  created_at: CreatedAt,
});

const Delivery = Type.Object({
  id: Id,
  event_id: Described(Uuid, "The event's id: the header `webhook-id`."),
  event_type: Described(EventType, "Type of event."),
  status: Described(OneOf(...WEBHOOK_DELIVERY_STATUSES), "`dead`: the last attempt failed."),
  attempts: Described(Type.Integer(), "Number of attempts.", 1),
  response_status: Described(Nullable(Type.Integer()), "HTTP status of the receiver.", 200),
  last_error: Described(
    Nullable(Type.String()),
    "Error of the last attempt, with the beginning of a refusal's body.",
    "Answered 500: database is away",
  ),
  next_attempt_at: Described(Nullable(Time), "Time of the next attempt."),
  created_at: CreatedAt,
});

const DeliveryWithPayload = Type.Object({
  ...Delivery.properties,
  /** Request body exactly as signed and posted. */
  payload: Described(Type.Record(Type.String(), Type.Unknown()), "Request body of the delivery.", {
    type: "opened",
    recipient: "ann@example.com",
  }),
});

const input = {
  url: Type.String({ format: "uri", maxLength: 2048, description: "https, without credentials." }),
  events: Type.Array(EventType, { minItems: 1, maxItems: 50, description: EVENT_TYPES }),
};
const example = { url: "https://example.com/hooks/mail", events: ["opened", "clicked"] };
const ById = Type.Object({ id: Id });
const DeliveryById = Type.Object({ id: Id, delivery_id: Described(Uuid, "The delivery's id.") });

export const contract = {
  list: {
    summary: "List webhook endpoints",
    description: "Searches the URL. Sortable: created_at, url.",
    params: ListQuery,
    returns: Page(Endpoint),
  },
  create: {
    summary: "Create a webhook endpoint",
    description: "Only this answer contains `secret`, which signs the deliveries.",
    params: Type.Object(input),
    returns: Type.Object({ ...Endpoint.properties, secret: Secret }),
    example,
  },
  get: { summary: "Get a webhook endpoint", params: ById, returns: Endpoint },
  update: {
    summary: "Replace a webhook endpoint",
    description:
      "Requires `url` and `events`. Enables a disabled endpoint again unless `disabled` is true: then nothing is queued until the next PUT, and waiting deliveries are dropped within a minute.",
    params: Type.Object({
      id: Id,
      ...input,
      disabled: Type.Optional(Described(Bool, "True disables delivery until the next update.")),
    }),
    returns: Endpoint,
    example,
  },
  remove: { summary: "Delete a webhook endpoint", params: ById, returns: Nothing },
  rotateSecret: {
    summary: "Replace the signing secret",
    description: "Deliveries are also signed with the old secret for 24 hours.",
    params: ById,
    returns: Type.Object({ secret: Secret }),
  },
  test: {
    summary: "Send a test event",
    description: "Queues a test event at once, with `metadata` `{test: true}`.",
    params: ById,
    returns: Delivery,
  },
  listDeliveries: {
    summary: "List deliveries of a webhook endpoint",
    params: Type.Object({
      id: Id,
      ...ListQuery.properties,
      status: Filter(OneOf(...WEBHOOK_DELIVERY_STATUSES), "Only entries with this status."),
      event_type: Filter(EventType, "Type of event."),
    }),
    returns: Page(Delivery),
  },
  getDelivery: {
    summary: "Get a delivery with its payload",
    params: DeliveryById,
    returns: DeliveryWithPayload,
  },
  redeliver: {
    summary: "Repeat a delivery",
    description: "Queues the event again with the same `webhook-id`, even if it was delivered.",
    params: DeliveryById,
    returns: Delivery,
  },
  deliverDue: {
    summary: "Deliver what is due (internal, repeated by each node)",
    visibility: "protected",
    params: Type.Object({}),
    returns: Type.Object({ claimed: Type.Integer(), idle: Bool }),
  },
  purge: {
    summary: "End deliveries of disabled endpoints and delete those settled 30 days ago (internal, repeated)",
    visibility: "protected",
    params: Type.Object({}),
    returns: Nothing,
  },
} as const satisfies ServiceContract;
