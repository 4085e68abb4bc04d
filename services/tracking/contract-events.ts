/** Schemas of sent emails, events and analytics in the API. */
import { EMAIL_EVENT_TYPES } from "../../models/email-event.ts";
import type { ServiceContract } from "../define.ts";
import {
  Bool,
  CreatedAt,
  DayOrTime,
  Described,
  Email,
  Filter,
  Id,
  ListQuery,
  Nullable,
  OneOf,
  Page,
  Time,
  Type,
  Uuid,
} from "../lib/shapes.ts";

const SentEmailStatus = OneOf("queued", "sending", "sent", "failed", "bounced", "suppressed", "unknown");

const Copy = Type.Object({
  email: Described(Type.String(), "An email address.", "ann@example.com"),
  kind: Described(OneOf("cc", "bcc"), "Header of the copy: cc or bcc."),
  status: Described(SentEmailStatus, "Status of this copy; it does not affect the mail itself."),
  error: Described(Nullable(Type.String()), "Reason for the failure.", "550 5.1.1 User unknown"),
  sent_at: Described(Nullable(Time), "Time when a mail server accepted it."),
});

const SentEmail = Type.Object({
  id: Id,
  campaign_id: Described(Uuid, "The campaign."),
  subscriber_id: Described(Nullable(Uuid), "Subscriber; null if deleted or never created."),
  recipient: Described(Type.String(), "Recipient address.", "ann@example.com"),
  cc: Described(Type.Array(Type.String()), "Visible copy recipients.", ["bob@example.com"]),
  bcc: Described(Type.Array(Type.String()), "Hidden copy recipients.", ["archive@example.com"]),
  /** Copies, one per address of cc and bcc; their results do not affect the message itself. */
  copies: Described(Type.Array(Copy), "Status of each copy."),
  subject: Described(Type.String(), "Subject as sent.", "Six books for Ann"),
  status: Described(
    SentEmailStatus,
    "`unknown`: handed over without an answer; `suppressed`: skipped, `error` gives the reason.",
  ),
  attempts: Described(Type.Integer(), "Number of attempts.", 1),
  error: Described(Nullable(Type.String()), "Reason for the failure.", "550 5.1.1 User unknown"),
  smtp_response: Described(
    Nullable(Type.String()),
    "Reply of the accepting mail server.",
    "250 2.0.0 Ok: queued as 4XyZ",
  ),
  message_id: Described(Type.String(), "Message-ID of the mail.", "<0199f0a2.4b1e@lantern.example>"),
  opened_at: Described(Nullable(Time), "Time of the first open by a person."),
  clicked_at: Described(Nullable(Time), "Time of the first click by a person."),
  bounced_at: Described(Nullable(Time), "Time of the bounce."),
  sent_at: Described(Nullable(Time), "Time when a mail server accepted it."),
  created_at: CreatedAt,
});

const Event = Type.Object({
  id: Id,
  type: Described(OneOf("opened", "clicked", "bounced", "unsubscribed", "complained"), "Type of event."),
  recipient: Described(Type.String(), "Recipient address.", "ann@example.com"),
  sent_email_id: Described(Nullable(Uuid), "Sent email; null if it belongs to none."),
  campaign_id: Described(Nullable(Uuid), "The campaign."),
  metadata: Described(Type.Object({}, { additionalProperties: true }), "Details by type."),
  timestamp: Described(Time, "Time of the event."),
});

const People = Nullable(
  Type.Integer({ description: "Number of people; null without individual tracking.", examples: [420] }),
);
const RateOfPeople = (example: number) =>
  Nullable(Type.Number({ description: "Null for a campaign without individual tracking.", examples: [example] }));
const Counted = Type.Object({
  total: Described(Type.Integer(), "All opens or clicks by people.", 610),
  unique: People,
  machine: Described(Type.Integer(), "Opens or clicks by scanners and proxies.", 75),
});

const VariantResult = Type.Object({
  index: Type.Integer({ examples: [0], description: "From 0, in the order of the request." }),
  percent: Type.Number({ examples: [20], description: "Requested share of the recipients." }),
  sent: Type.Integer({
    examples: [2000],
    description: "Accepted mails with this variant; for the winner including those to the remaining recipients.",
  }),
  opens: Type.Integer({
    examples: [640],
    description: "People who opened at least one of these mails, without scanners and proxies.",
  }),
  clicks: Type.Integer({
    examples: [85],
    description: "People who clicked in at least one of these mails, without scanners and proxies.",
  }),
});

const Analytics = Type.Object({
  campaign_id: Described(Uuid, "The campaign."),
  total_emails: Described(Type.Integer(), "Recipients of the campaign.", 1200),
  sent: Described(Type.Integer(), "Mails accepted by mail servers.", 1180),
  failed: Described(Type.Integer(), "Recipients without an accepted mail.", 20),
  delivered: Described(Type.Integer(), "Accepted mails that have not bounced.", 1170),
  bounced: Described(Type.Integer(), "Bounced mails.", 10),
  bounces: Described(
    Type.Object({
      hard: Described(Type.Integer(), "The mailbox does not exist.", 6),
      soft: Described(Type.Integer(), "The mailbox could not accept it.", 3),
      block: Described(Type.Integer(), "The server refused the sender.", 1),
    }),
    "Bounced mails by kind.",
  ),
  complaints: Described(Type.Integer(), "Recipients who reported it as spam.", 1),
  unsubscribed: Described(Type.Integer(), "Recipients who unsubscribed through this campaign.", 4),
  opens: Described(Counted, "Opens of this campaign."),
  clicks: Described(Counted, "Clicks in this campaign."),
  not_recorded: Described(
    Type.Object({
      opens: Described(Type.Integer(), "Opens that no other count includes.", 0),
      clicks: Described(Type.Integer(), "Clicks that are in no other number.", 0),
    }),
    "Extension. Opens and clicks beyond 60 a minute from one address on one mail.",
  ),
  rates: Described(
    Type.Object({
      open: RateOfPeople(0.359),
      click: RateOfPeople(0.068),
      click_to_open: RateOfPeople(0.19),
      bounce: Described(Type.Number(), "Bounced mails divided by accepted and bounced mails.", 0.008),
      unsubscribe: Described(Type.Number(), "Unsubscribed recipients divided by delivered mails.", 0.003),
    }),
    "Rates between 0 and 1.",
  ),
  links: Described(
    Type.Array(
      Type.Object({
        url: Described(Type.String(), "URL.", "https://lantern.example/books"),
        total: Described(Type.Integer(), "All clicks by people.", 70),
        unique: People,
      }),
    ),
    "Links, most clicked first.",
  ),
  timeline: Described(
    Type.Array(
      Type.Object({
        at: Described(Time, "Start of the interval."),
        opens: Described(Type.Integer(), "Opens by people.", 40),
        clicks: Described(Type.Integer(), "Clicks by people.", 9),
      }),
    ),
    "Opens and clicks over time.",
  ),
  variants: Type.Array(VariantResult, {
    description: "Extension. Results of an A/B test's variants, in the order of the request; empty without a test.",
  }),
});

const DomainStats = Type.Object({
  domain: Described(Type.String(), "Recipient domain.", "example.com"),
  sent: Described(Type.Integer(), "Mails accepted by mail servers.", 1180),
  delivered: Described(Type.Integer(), "Accepted mails that have not bounced.", 1170),
  hard: Described(Type.Integer(), "The mailbox does not exist.", 6),
  soft: Described(Type.Integer(), "The mailbox could not accept it.", 3),
  block: Described(Type.Integer(), "The server refused the sender.", 1),
  complaints: Described(Type.Integer(), "Recipients who reported it as spam.", 1),
  opens: Described(Type.Integer(), "Mails opened by a person.", 420),
  last_refusal: Described(Nullable(Type.String()), "Latest refusal by its servers.", "421 4.7.0 Try again later"),
  estimated: Type.Optional(Described(Bool, "Present only when `sent`, `delivered` and `opens` are estimates.")),
});

export const contract = {
  listSentEmails: {
    summary: "List sent emails with their delivery status",
    description: `Searches the recipient. Sortable: created_at, recipient, sent_at.`,
    params: Type.Object({
      ...ListQuery.properties,
      campaign: Filter(Uuid, "Only entries of this campaign.", "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"),
      status: Filter(SentEmailStatus, "Only entries with this status."),
      recipient: Filter(Email, "Only entries for this address.", "ann@example.com"),
    }),
    returns: Page(SentEmail),
  },
  listEvents: {
    summary: "List opens, clicks, bounces, unsubscribes and complaints",
    description: `\`delivered\` is reported by webhooks and by the sent email's status. Searches the recipient. Sortable: created_at, timestamp.`,
    params: Type.Object({
      ...ListQuery.properties,
      type: Filter(OneOf(...EMAIL_EVENT_TYPES), "Only of this type."),
      campaign: Filter(Uuid, "Only entries of this campaign.", "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"),
      recipient: Filter(Email, "Only entries for this address.", "ann@example.com"),
      source: Filter(
        OneOf("smtp", "dsn", "provider", "api"),
        "Extension. Only bounces from this source; `smtp`: refused in the SMTP session.",
      ),
      since: Type.Optional(DayOrTime("Inclusive start.")),
      until: Type.Optional(DayOrTime("Exclusive.")),
    }),
    returns: Page(Event),
  },
  analytics: {
    summary: "Get a campaign's statistics",
    description:
      "`total` and `unique` count people, `machine` counts scanners and prefetching proxies. If the company's `individual_tracking` was false when the campaign started, every open and click counts in `total`, machines are recognized only by their user agent, and `unique` and the rates of opens and clicks are null. `sent` counts mails that servers accepted, `delivered` those that have not bounced since.",
    params: Type.Object({ id: Id }),
    returns: Analytics,
  },
  domainStats: {
    summary: "Get delivery statistics by recipient domain",
    description:
      "The 100 domains with most accepted mail in the last `days` (30), most first. `sent` counts mails that their servers accepted, `delivered` those that have not bounced; `hard`, `soft`, `block` and `complaints` arrived in these days; `opens` counts mails that a person opened. `last_refusal` is the latest refusal, including deferrals. With `campaign` only its mails count, of any age. Above 10,000 mails, 2,000 bounces or 2,000 complaints a sample is counted: the numbers are estimates (`estimated`), and small domains may be missing.",
    params: Type.Object({
      days: Type.Optional(
        Described(Type.Integer({ minimum: 1, maximum: 365 }), "Number of days, counting back from today.", 7),
      ),
      campaign: Type.Optional(Described(Uuid, "Only entries of this campaign.")),
    }),
    returns: Type.Array(DomainStats),
  },
} as const satisfies ServiceContract;
