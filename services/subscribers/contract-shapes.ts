/** Subscribers, lists and suppressions as the API shows them. */
import { LIST_VISIBILITIES } from "../../models/list.ts";
import { SUBSCRIBER_STATUSES } from "../../models/subscriber.ts";
import { SUPPRESSION_KINDS } from "../../models/suppression.ts";
import type { AttributeValue, AttributeChanges as Changes } from "../lib/attributes.ts";
import { MAX_ATTRIBUTES, MAX_TEXT, MAX_TEXTS, NAME_PATTERN } from "../lib/attributes.ts";
import { CountedPage, Email, Line, Nullable, OneOf, Text, Time, Type, Uuid } from "../lib/shapes.ts";

export const PersonName = Line(255);

export const Status = OneOf(...SUBSCRIBER_STATUSES);

const attributes = (...types: string[]) => ({
  type: "object",
  maxProperties: MAX_ATTRIBUTES,
  propertyNames: { pattern: NAME_PATTERN },
  additionalProperties: {
    type: ["string", "number", "boolean", "array", ...types],
    maxLength: MAX_TEXT,
    maxItems: MAX_TEXTS,
    items: { type: "string", maxLength: MAX_TEXT },
  },
});

/** Strings, numbers, booleans and arrays of strings; each is a template variable and a segment field. */
export const Attributes = Type.Unsafe<Record<string, AttributeValue>>(attributes());
/** For merging (RFC 7396): null removes an attribute. */
export const AttributeChanges = Type.Unsafe<Changes>(attributes("null"));

export const Subscriber = Type.Object({
  id: Uuid,
  email: Email,
  first_name: Type.String(),
  last_name: Type.String(),
  status: Status,
  attributes: Attributes,
  lists: Type.Array(Uuid),
  created_at: Time,
});

export const SubscriberPage = CountedPage(Subscriber);
export const ESTIMATED =
  "Where more than 10,000 fit a search, or a list and a status, or more than 15,000 people would have to be looked at for a number, `count` is an estimate and `count_estimated` is true; the last page has the exact number.";

/** Public lists are shown to subscribers on the preferences page. */
export const Visibility = OneOf(...LIST_VISIBILITIES);

export const Archive = Type.Boolean({
  description:
    "What was sent to the list may be read by anybody, as a page and an RSS feed at `/api/emails/public/archive/{list_id}/`. Has an effect on public lists alone.",
  examples: [true],
});
export const DoubleOptIn = Nullable(
  Type.Boolean({
    description:
      "Whoever asks for this list by the public form is on it once they confirm by the link that is mailed to them. Null: as the company's `double_opt_in` says.",
  }),
);

export const List = Type.Object({
  id: Uuid,
  name: Type.String(),
  description: Type.String(),
  visibility: Visibility,
  public_name: Type.String(),
  public_description: Type.String(),
  archive: Archive,
  double_opt_in: DoubleOptIn,
  subscriber_count: Type.Integer(),
  created_at: Time,
});

export const Kind = OneOf(...SUPPRESSION_KINDS);

export const Suppression = Type.Object({
  id: Uuid,
  email: Nullable(Type.String()),
  domain: Nullable(Type.String()),
  kind: Kind,
  reason: Type.String(),
  created_at: Time,
});

export const Description = Text(5_000);

const Rows = Type.Array(Type.Record(Type.String(), Type.Unknown()));

/** Rows as they are stored, with readable names for statuses; secrets and other people's addresses are not among them. */
export const PersonData = Type.Object({
  exported_at: Time,
  subscriber: Subscriber,
  lists: Rows,
  former_addresses: Rows,
  sent_emails: Rows,
  copies: Rows,
  events: Rows,
  inbound: Rows,
  suppressions: Rows,
  webhook_deliveries: Rows,
  truncated: Type.Array(Type.String()),
});
