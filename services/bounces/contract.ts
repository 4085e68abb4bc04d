/** Reports by API, and the list of inbound messages from all sources. */
import { BOUNCE_TYPES, INBOUND_RESULTS } from "../../models/inbound-message.ts";
import type { ServiceContract } from "../define.ts";
import {
  ById,
  Described,
  Document,
  Email,
  Filter,
  Id,
  ListQuery,
  Nothing,
  Nullable,
  OneOf,
  Page,
  type Static,
  Text,
  Time,
  Type,
  Uuid,
} from "../lib/shapes.ts";
import { sources } from "./contract-sources.ts";
import { WAYS_IN } from "./incoming-report.ts";

const Inbound = Type.Object({
  id: Id,
  received_at: Described(Time, "Time of arrival."),
  via: Described(OneOf(...WAYS_IN), "Source: `smtp` (listener), `imap` (mailbox), `api`, or the provider."),
  sent_email_id: Described(Nullable(Uuid), "Sent email; null if it belongs to none."),
  recipient: Described(Nullable(Type.String()), "Recipient address.", "ann@example.com"),
  /** `unmatched` belongs to no message of the company and changes nothing. */
  result: Described(
    OneOf(...INBOUND_RESULTS),
    "`unmatched`: it belongs to no mail of the company and changed nothing.",
  ),
  bounce_type: Described(
    Nullable(OneOf(...BOUNCE_TYPES)),
    "`hard`: the mailbox does not exist; `soft`: temporary problem; `block`: the server refuses the sender.",
  ),
  diagnostic: Described(
    Nullable(Type.String()),
    "Reply of the server that refused the mail; starts with `Reported for` and an address if the report names another one than the recipient (forwarded mail).",
    "550 5.1.1 User unknown",
  ),
  /** Null once the original message is deleted (after 30 days) or if there was none. */
  raw_url: Described(
    Nullable(Type.String()),
    "Original message, kept for 30 days.",
    "https://mail.lantern.example/api/emails/inbound/0199f0a2/raw/",
  ),
});
export type Inbound = Static<typeof Inbound>;

const Reported = Type.Object({
  sent_email_id: Type.Optional(Described(Uuid, "The sent email.")),
  message_id: Type.Optional(
    Described(
      Type.String({ minLength: 3, maxLength: 998, format: "line" }),
      "Message-ID of the mail.",
      "<0199f0a2.4b1e@lantern.example>",
    ),
  ),
  email: Type.Optional(Described(Email, "An email address.")),
  type: Described(OneOf(...BOUNCE_TYPES, "complaint"), "Type of event."),
  diagnostic: Type.Optional(
    Described(Text(1_000), "Reply of the server that refused the mail.", "550 5.1.1 User unknown"),
  ),
});
export type Reported = Static<typeof Reported>;

export const contract = {
  report: {
    summary: "Report a bounce or a complaint",
    description:
      "For servers and providers that Flockmail does not read itself. A sent email's id or Message-ID identifies the mail; `email` means the newest mail to that address within 14 days. Repeating a report changes nothing; `result` is `unmatched` if there is no such mail.",
    params: Reported,
    returns: Inbound,
    exactlyOne: [["sent_email_id", "message_id", "email"]],
    example: { email: "ann@example.com", type: "hard", diagnostic: "550 5.1.1 User unknown" },
  },
  listInbound: {
    summary: "List received bounces and complaints",
    description: `Searches the recipient. Sortable: created_at, received_at.`,
    params: Type.Object({
      ...ListQuery.properties,
      result: Filter(OneOf(...INBOUND_RESULTS), "Only entries with this result."),
      via: Filter(OneOf(...WAYS_IN), "Only entries received this way."),
      recipient: Filter(Email, "Only entries for this address.", "ann@example.com"),
    }),
    returns: Page(Inbound),
  },
  inboundRaw: {
    summary: "Download a received message",
    description: "Available for 30 days; of a large message only the first MiB.",
    params: ById,
    returns: Document,
  },
  ...sources,
  purge: {
    summary: "Delete messages that came in 30 days ago (internal, repeated)",
    visibility: "protected",
    params: Type.Object({}),
    returns: Nothing,
  },
} as const satisfies ServiceContract;
