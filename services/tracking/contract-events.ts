/** What API users read: sent emails, events, analytics. */
import { EMAIL_EVENT_TYPES } from "../../models/email-event.ts";
import type { ServiceContract } from "../define.ts";
import { BOUNDED, Bool, CountedPage, Email, ListQuery, Nullable, OneOf, Time, Type, Uuid } from "../lib/shapes.ts";

const SentEmailStatus = OneOf("queued", "sending", "sent", "failed", "bounced", "suppressed", "unknown");

const Copy = Type.Object({
  email: Type.String(),
  kind: OneOf("cc", "bcc"),
  status: SentEmailStatus,
  error: Nullable(Type.String()),
  sent_at: Nullable(Time),
});

const SentEmail = Type.Object({
  id: Uuid,
  campaign_id: Uuid,
  subscriber_id: Nullable(Uuid),
  recipient: Type.String(),
  cc: Type.Array(Type.String()),
  bcc: Type.Array(Type.String()),
  /** One for each address of cc and bcc; what became of it changes nothing for the mail itself. */
  copies: Type.Array(Copy),
  subject: Type.String(),
  status: SentEmailStatus,
  attempts: Type.Integer(),
  error: Nullable(Type.String()),
  smtp_response: Nullable(Type.String()),
  message_id: Type.String(),
  opened_at: Nullable(Time),
  clicked_at: Nullable(Time),
  bounced_at: Nullable(Time),
  sent_at: Nullable(Time),
  created_at: Time,
});

const Event = Type.Object({
  id: Uuid,
  type: OneOf("opened", "clicked", "bounced", "unsubscribed", "complained"),
  recipient: Type.String(),
  sent_email_id: Nullable(Uuid),
  campaign_id: Nullable(Uuid),
  metadata: Type.Object({}, { additionalProperties: true }),
  timestamp: Time,
});

const People = Nullable(
  Type.Integer({ description: "How many people; null for a campaign without individual tracking." }),
);
const RateOfPeople = Nullable(Type.Number({ description: "Null for a campaign without individual tracking." }));
const Counted = Type.Object({ total: Type.Integer(), unique: People, machine: Type.Integer() });

const VariantResult = Type.Object({
  index: Type.Integer({ examples: [0], description: "From 0, in the order of the request." }),
  percent: Type.Number({ examples: [20], description: "Its share of the recipients, as it was asked for." }),
  sent: Type.Integer({
    examples: [2000],
    description:
      "Mails with this variant that mail servers took; of the winner also those to the rest of the recipients.",
  }),
  opens: Type.Integer({ examples: [640], description: "People who opened one of these; machines are not counted." }),
  clicks: Type.Integer({
    examples: [85],
    description: "People who clicked in one of these; machines are not counted.",
  }),
});

const Analytics = Type.Object({
  campaign_id: Uuid,
  total_emails: Type.Integer(),
  sent: Type.Integer(),
  failed: Type.Integer(),
  delivered: Type.Integer(),
  bounced: Type.Integer(),
  bounces: Type.Object({ hard: Type.Integer(), soft: Type.Integer(), block: Type.Integer() }),
  complaints: Type.Integer(),
  unsubscribed: Type.Integer(),
  opens: Counted,
  clicks: Counted,
  rates: Type.Object({
    open: RateOfPeople,
    click: RateOfPeople,
    click_to_open: RateOfPeople,
    bounce: Type.Number(),
    unsubscribe: Type.Number(),
  }),
  links: Type.Array(Type.Object({ url: Type.String(), total: Type.Integer(), unique: People })),
  timeline: Type.Array(Type.Object({ at: Time, opens: Type.Integer(), clicks: Type.Integer() })),
  variants: Type.Array(VariantResult, {
    description: "Extension. Of an A/B test, in the order of the request; empty where there is none.",
  }),
});

const DomainStats = Type.Object({
  domain: Type.String(),
  sent: Type.Integer(),
  delivered: Type.Integer(),
  hard: Type.Integer(),
  soft: Type.Integer(),
  block: Type.Integer(),
  complaints: Type.Integer(),
  opens: Type.Integer(),
  last_refusal: Nullable(Type.String()),
  estimated: Type.Optional(Bool),
});

export const contract = {
  listSentEmails: {
    summary: "List sent emails with their delivery status",
    description: `Search looks into the recipient. Sortable: created_at, recipient, sent_at. ${BOUNDED}`,
    params: Type.Object({
      ...ListQuery.properties,
      campaign: Type.Optional(Uuid),
      status: Type.Optional(SentEmailStatus),
      recipient: Type.Optional(Email),
    }),
    returns: CountedPage(SentEmail),
  },
  listEvents: {
    summary: "List opens, clicks, bounces, unsubscribes and complaints",
    description: `\`delivered\` is reported by webhooks and by the sent email's status. Search looks into the recipient. Sortable: created_at, timestamp. ${BOUNDED}`,
    params: Type.Object({
      ...ListQuery.properties,
      type: Type.Optional(OneOf(...EMAIL_EVENT_TYPES)),
      campaign: Type.Optional(Uuid),
      recipient: Type.Optional(Email),
      since: Type.Optional(Time),
      until: Type.Optional(Type.String({ format: "date-time", description: "Exclusive." })),
    }),
    returns: CountedPage(Event),
  },
  analytics: {
    summary: "Opens, clicks and bounces of a campaign",
    description:
      "`total` and `unique` count people, `machine` counts scanners and prefetching proxies. Where the company's `individual_tracking` was false when the campaign started, every hit counts in `total`, machines are recognized by their user agent alone, and `unique` and the rates of opens and clicks are null. `sent` is what mail servers took, `delivered` what has not come back since.",
    params: Type.Object({ id: Uuid }),
    returns: Analytics,
  },
  domainStats: {
    summary: "What becomes of mail, by the domain of its recipients",
    description:
      "The 100 domains that took most mail in the last `days` (30), most first. `sent` is what their servers took, `delivered` what has not come back since; `hard`, `soft`, `block` and `complaints` came in these days; `opens` counts mails that a person opened. `last_refusal` is the latest refusal, deferrals included. With `campaign` it is about the mails of that one alone, whenever they were sent. Of more than 10,000 mails, 2,000 bounces or 2,000 complaints a part is counted: the numbers are estimates then (`estimated`), and a domain that took few may be missing.",
    params: Type.Object({
      days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365 })),
      campaign: Type.Optional(Uuid),
    }),
    returns: Type.Array(DomainStats),
  },
} as const satisfies ServiceContract;
