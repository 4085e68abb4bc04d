import { WEBHOOK_EVENT_TYPES } from "../../models/email-event.ts";
import { WEBHOOK_DELIVERY_STATUSES } from "../../models/webhook-delivery.ts";
import type { ServiceContract } from "../define.ts";
import {
  Bool,
  CreatedAt,
  Described,
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
  "`campaign.completed`: it has ended, as `metadata.status` says (completed, partial, failed). `subscribed`: somebody became active, or joined a list, by the public form; `confirmed`: by the link in a mail. These name no mail; `metadata` of the latter two has the subscriber and the lists.";
const Secret = Type.String({
  description: "`whsec_` and 32 random bytes in base64, as Standard Webhooks has it.",
  examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
});

const Endpoint = Type.Object({
  id: Id,
  url: Described(Type.String({ format: "uri" }), "URL that receives the events.", "https://example.com/hooks/mail"),
  events: Described(Type.Array(EventType), "Types of events that are sent."),
  failing_since: Described(
    Nullable(Time),
    "Since when every attempt has failed; after three days the endpoint is disabled.",
  ),
  disabled_at: Described(
    Nullable(Time),
    "Since when nothing is delivered: somebody wished it (`failing_since` is null), or three days of nothing but failures.",
  ),
  created_at: CreatedAt,
});

const Delivery = Type.Object({
  id: Id,
  event_id: Described(Uuid, "The event's id: the header `webhook-id`."),
  event_type: Described(EventType, "Type of event."),
  status: Described(OneOf(...WEBHOOK_DELIVERY_STATUSES), "`dead`: it was tried for the last time."),
  attempts: Described(Type.Integer(), "Number of attempts.", 1),
  response_status: Described(Nullable(Type.Integer()), "The status that the receiver answered with.", 200),
  last_error: Described(
    Nullable(Type.String()),
    "Why the last attempt failed; of a refusal also how its body began.",
    "Answered 500: database is away",
  ),
  next_attempt_at: Described(Nullable(Time), "Time of the next attempt."),
  created_at: CreatedAt,
});

const DeliveryWithPayload = Type.Object({
  ...Delivery.properties,
  /** The body that is posted, as it is signed. */
  payload: Described(Type.Record(Type.String(), Type.Unknown()), "The body that is posted.", {
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
    description: "Search looks into the URL. Sortable: created_at, url.",
    params: ListQuery,
    returns: Page(Endpoint),
  },
  create: {
    summary: "Create a webhook endpoint",
    description: "The answer is the only one that ever shows `secret`, which signs the deliveries.",
    params: Type.Object(input),
    returns: Type.Object({ ...Endpoint.properties, secret: Secret }),
    example,
  },
  get: { summary: "Get a webhook endpoint", params: ById, returns: Endpoint },
  update: {
    summary: "Replace a webhook endpoint",
    description:
      "`url` and `events` are required. A disabled endpoint is enabled again, unless `disabled` is true: then nothing is queued for it until the next PUT, and what waits is given up within a minute.",
    params: Type.Object({
      id: Id,
      ...input,
      disabled: Type.Optional(Described(Bool, "True: nothing is delivered until the next PUT.")),
    }),
    returns: Endpoint,
    example,
  },
  remove: { summary: "Delete a webhook endpoint", params: ById, returns: Nothing },
  rotateSecret: {
    summary: "Replace the signing secret",
    description: "For 24 hours deliveries carry a signature of the old secret too.",
    params: ById,
    returns: Type.Object({ secret: Secret }),
  },
  test: {
    summary: "Send a test event",
    description: "Queued for delivery at once. Its `metadata` is `{test: true}`.",
    params: ById,
    returns: Delivery,
  },
  listDeliveries: {
    summary: "List deliveries of a webhook endpoint",
    params: Type.Object({
      id: Id,
      ...ListQuery.properties,
      status: Type.Optional(Described(OneOf(...WEBHOOK_DELIVERY_STATUSES), "Only those in this state.")),
      event_type: Type.Optional(Described(EventType, "Type of event.")),
    }),
    returns: Page(Delivery),
  },
  getDelivery: {
    summary: "Get a delivery with what is posted",
    params: DeliveryById,
    returns: DeliveryWithPayload,
  },
  redeliver: {
    summary: "Deliver an event again",
    description: "Queued for delivery at once, with the same `webhook-id`, also when it succeeded before.",
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
