import { WEBHOOK_EVENT_TYPES } from "../../models/email-event.ts";
import { WEBHOOK_DELIVERY_STATUSES } from "../../models/webhook-delivery.ts";
import type { ServiceContract } from "../define.ts";
import {
  BOUNDED,
  Bool,
  CountedPage,
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
const Secret = Type.String({ description: "`whsec_` and 32 random bytes in base64, as Standard Webhooks has it." });

const Endpoint = Type.Object({
  id: Uuid,
  url: Type.String({ format: "uri" }),
  events: Type.Array(EventType),
  failing_since: Nullable(Time),
  disabled_at: Nullable(Time),
  created_at: Time,
});

const Delivery = Type.Object({
  id: Uuid,
  event_id: Uuid,
  event_type: EventType,
  status: OneOf(...WEBHOOK_DELIVERY_STATUSES),
  attempts: Type.Integer(),
  response_status: Nullable(Type.Integer()),
  last_error: Nullable(Type.String()),
  next_attempt_at: Nullable(Time),
  created_at: Time,
});

const DeliveryWithPayload = Type.Object({
  ...Delivery.properties,
  /** The body that is posted, as it is signed. */
  payload: Type.Record(Type.String(), Type.Unknown()),
});

const input = {
  url: Type.String({ format: "uri", maxLength: 2048, description: "https, without credentials." }),
  events: Type.Array(EventType, { minItems: 1, maxItems: 50, description: EVENT_TYPES }),
};
const example = { url: "https://example.com/hooks/mail", events: ["opened", "clicked"] };
const ById = Type.Object({ id: Uuid });
const DeliveryById = Type.Object({ id: Uuid, delivery_id: Uuid });

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
      id: Uuid,
      ...input,
      disabled: Type.Optional(Bool),
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
    description: BOUNDED,
    params: Type.Object({
      id: Uuid,
      ...ListQuery.properties,
      status: Type.Optional(OneOf(...WEBHOOK_DELIVERY_STATUSES)),
      event_type: Type.Optional(EventType),
    }),
    returns: CountedPage(Delivery),
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
