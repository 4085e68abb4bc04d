/** Public shapes of subscribers, lists and suppressions. */
import { LIST_VISIBILITIES } from "../../models/list.ts";
import { SUBSCRIBER_STATUSES } from "../../models/subscriber.ts";
import { SUPPRESSION_KINDS } from "../../models/suppression.ts";
import type { AttributeValue, AttributeChanges as Changes } from "../lib/attributes.ts";
import { MAX_ATTRIBUTES, MAX_TEXT, MAX_TEXTS, NAME_PATTERN } from "../lib/attributes.ts";
import { CreatedAt, Described, Email, Id, Line, Nullable, OneOf, Page, Text, Time, Type, Uuid } from "../lib/shapes.ts";

export const PersonName = Line(255);

export const Status = OneOf(...SUBSCRIBER_STATUSES);

const attributes = (...types: string[]) => ({
  type: "object",
  description: "Custom fields, usable as template variables and in segments.",
  examples: [{ city: "London", books: 3 }],
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
/** Merge patch (RFC 7396): null removes an attribute. */
export const AttributeChanges = Type.Unsafe<Changes>(attributes("null"));

export const Kind = OneOf(...SUPPRESSION_KINDS);

const OwnSuppression = Nullable(
  Type.Object({
    kind: Described(Kind, "Reason for the suppression; `unsubscribed` lets transactional mail through."),
    created_at: CreatedAt,
  }),
);

export const Subscriber = Type.Object({
  id: Id,
  email: Described(Email, "An email address."),
  first_name: Described(Type.String(), "First name.", "Ann"),
  last_name: Described(Type.String(), "Last name.", "Lee"),
  status: Described(Status, "Only `active` subscribers get campaigns."),
  suppression: Described(
    OwnSuppression,
    "Suppression of the address or its domain, which keeps mail from it; null if none.",
  ),
  attributes: Attributes,
  lists: Described(Type.Array(Uuid), "Lists of the subscriber.", ["0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"]),
  created_at: CreatedAt,
});

export const SubscriberPage = Page(Subscriber);

/** Public lists are shown to subscribers on the preferences page. */
export const Visibility = OneOf(...LIST_VISIBILITIES);

export const Archive = Type.Boolean({
  description:
    "Publishes campaigns to the list as a page and an RSS feed at `/api/emails/public/archive/{list_id}/`. Only for public lists.",
  examples: [true],
});
export const DoubleOptIn = Nullable(
  Type.Boolean({
    description:
      "People who request this list by the public form join once they confirm by a mailed link. Null: the company's `double_opt_in` applies.",
  }),
);

export const List = Type.Object({
  id: Id,
  name: Described(Type.String(), "Name; shown to subscribers if the list is public.", "Newsletter"),
  description: Described(
    Type.String(),
    "Internal description; recipients do not see it.",
    "Everyone who asked for the newsletter",
  ),
  visibility: Described(Visibility, "`public` lists appear on subscribers' preferences page."),
  public_name: Described(
    Type.String(),
    "Name shown to subscribers of a public list; empty: the list's name.",
    "Our monthly letter",
  ),
  public_description: Described(
    Type.String(),
    "Description shown to subscribers of a public list.",
    "Once a month, what is new",
  ),
  archive: Archive,
  double_opt_in: DoubleOptIn,
  subscriber_count: Described(Type.Integer(), "Number of subscribers.", 1234),
  created_at: CreatedAt,
});

export const Suppression = Type.Object({
  id: Id,
  email: Described(Nullable(Type.String()), "Suppressed address; null for a domain.", "ann@example.com"),
  domain: Described(Nullable(Type.String()), "Suppressed domain; null for an address.", "example.org"),
  kind: Described(Kind, "Reason for the suppression; the stronger kind wins."),
  reason: Described(Type.String(), "Reason.", "Asked us to stop"),
  created_at: CreatedAt,
});

export const Description = Text(5_000);

const Rows = Type.Array(Type.Record(Type.String(), Type.Unknown()));

/** Stored rows with readable statuses, without secrets and other people's addresses. */
export const PersonData = Type.Object({
  exported_at: Described(Time, "Time of the export."),
  subscriber: Subscriber,
  soft_bounces: Described(
    Type.Integer(),
    "Soft bounces in a row, without a delivery between; the fifth suppresses.",
    0,
  ),
  lists: Described(Rows, "List memberships.", [{ name: "Newsletter" }]),
  form_values: Described(Rows, "Values of a sign-up form that the person has not confirmed yet.", [
    { first_name: "Ann", last_name: null, attributes: { city: "Berlin" } },
  ]),
  list_requests: Described(Rows, "Lists that the person asked for and has not confirmed yet.", [
    { name: "Newsletter" },
  ]),
  address_changes: Described(Rows, "New addresses that the person has not confirmed yet.", [
    { email: "ann@new.example" },
  ]),
  former_addresses: Described(Rows, "Former addresses of the person.", [{ email: "ann@old.example" }]),
  sent_emails: Described(Rows, "Mails sent to the person.", [{ subject: "Six books for Ann" }]),
  copies: Described(Rows, "Copies sent to the person.", [{ kind: "cc" }]),
  events: Described(Rows, "Events of these mails.", [{ type: "opened" }]),
  inbound: Described(Rows, "Bounces and complaints.", [{ result: "bounced" }]),
  suppressions: Described(Rows, "Suppressions of the address.", [{ kind: "unsubscribed" }]),
  webhook_deliveries: Described(Rows, "Webhook deliveries about the person.", [{ event_type: "opened" }]),
  truncated: Described(Type.Array(Type.String()), "Kinds with more than 10,000 rows.", ["events"]),
});
