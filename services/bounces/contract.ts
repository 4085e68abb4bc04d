/** What comes back: reports by API, and the list of what came in by whatever way. */
import { BOUNCE_TYPES, INBOUND_RESULTS } from "../../models/inbound-message.ts";
import type { ServiceContract } from "../define.ts";
import {
  BOUNDED,
  ById,
  CountedPage,
  Document,
  Email,
  ListQuery,
  Nothing,
  Nullable,
  OneOf,
  type Static,
  Text,
  Time,
  Type,
  Uuid,
} from "../lib/shapes.ts";
import { WAYS_IN } from "./arrival.ts";
import { sources } from "./contract-sources.ts";

const Inbound = Type.Object({
  id: Uuid,
  received_at: Time,
  /** `smtp`: the listener, `imap`: a mailbox, `api`, or the provider. */
  via: OneOf(...WAYS_IN),
  sent_email_id: Nullable(Uuid),
  recipient: Nullable(Type.String()),
  /** `unmatched`: it belongs to no mail of the company, and has changed nothing. */
  result: OneOf(...INBOUND_RESULTS),
  bounce_type: Nullable(OneOf(...BOUNCE_TYPES)),
  diagnostic: Nullable(Type.String()),
  /** The message as it came, for 30 days; null where there is none. */
  raw_url: Nullable(Type.String()),
});
export type Inbound = Static<typeof Inbound>;

const Reported = Type.Object({
  sent_email_id: Type.Optional(Uuid),
  message_id: Type.Optional(Type.String({ minLength: 3, maxLength: 998, format: "line" })),
  email: Type.Optional(Email),
  type: OneOf(...BOUNCE_TYPES, "complaint"),
  diagnostic: Type.Optional(Text(1_000)),
});
export type Reported = Static<typeof Reported>;

export const contract = {
  report: {
    summary: "Report a bounce or a complaint",
    description:
      "For servers and providers that Flockmail does not read itself. A mail's id or Message-ID says which mail it is; `email` means the newest mail to that address within 14 days. Reporting the same again changes nothing; `result` is `unmatched` where there is no such mail.",
    params: Reported,
    returns: Inbound,
    exactlyOne: ["sent_email_id", "message_id", "email"],
    example: { email: "ann@example.com", type: "hard", diagnostic: "550 5.1.1 User unknown" },
  },
  listInbound: {
    summary: "List bounces, complaints and other messages that came in",
    description: `Search looks into the recipient. Sortable: created_at, received_at. ${BOUNDED}`,
    params: Type.Object({
      ...ListQuery.properties,
      result: Type.Optional(OneOf(...INBOUND_RESULTS)),
      via: Type.Optional(OneOf(...WAYS_IN)),
      recipient: Type.Optional(Email),
    }),
    returns: CountedPage(Inbound),
  },
  inboundRaw: {
    summary: "Get a message as it came in",
    description: "As a download, for 30 days; of a large one its first MiB.",
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
