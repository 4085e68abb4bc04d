/** What API users read: sent emails, events, analytics. */
import { EMAIL_EVENT_TYPES } from "../../models/email-event.ts";
import type { ServiceContract } from "../define.ts";
import {
  Bool,
  CreatedAt,
  DayOrTime,
  Described,
  Email,
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
  kind: Described(OneOf("cc", "bcc"), "Which of the two it stands in."),
  status: Described(SentEmailStatus, "What became of this copy; it changes nothing for the mail itself."),
  error: Described(Nullable(Type.String()), "Why there is no mail.", "550 5.1.1 User unknown"),
  sent_at: Described(Nullable(Time), "Time at which a mail server accepted it."),
});

const SentEmail = Type.Object({
  id: Id,
  campaign_id: Described(Uuid, "The campaign."),
  subscriber_id: Described(Nullable(Uuid), "The subscriber; null where it was deleted, or never was one."),
  recipient: Described(Type.String(), "The address that it goes to.", "ann@example.com"),
  cc: Described(Type.Array(Type.String()), "Others who get a copy and are seen in it.", ["bob@example.com"]),
  bcc: Described(Type.Array(Type.String()), "Others who get a copy and are not seen in it.", ["archive@example.com"]),
  /** One for each address of cc and bcc; what became of it changes nothing for the mail itself. */
  copies: Described(Type.Array(Copy), "What became of each address of cc and bcc."),
  subject: Described(Type.String(), "Subject as the recipient has it.", "Six books for Ann"),
  status: Described(
    SentEmailStatus,
    "`unknown`: handed over, and no answer came; `suppressed`: left out, `error` says why. The others are what they say.",
  ),
  attempts: Described(Type.Integer(), "Number of attempts.", 1),
  error: Described(Nullable(Type.String()), "Why there is no mail.", "550 5.1.1 User unknown"),
  smtp_response: Described(
    Nullable(Type.String()),
    "Reply of the mail server that accepted it.",
    "250 2.0.0 Ok: queued as 4XyZ",
  ),
  message_id: Described(Type.String(), "Message-ID of the mail.", "<0199f0a2.4b1e@lantern.example>"),
  opened_at: Described(Nullable(Time), "Time of the first open by a person."),
  clicked_at: Described(Nullable(Time), "Time of the first click by a person."),
  bounced_at: Described(Nullable(Time), "Time of the bounce."),
  sent_at: Described(Nullable(Time), "Time at which a mail server accepted it."),
  created_at: CreatedAt,
});

const Event = Type.Object({
  id: Id,
  type: Described(OneOf("opened", "clicked", "bounced", "unsubscribed", "complained"), "Type of event."),
  recipient: Described(Type.String(), "The address that it goes to.", "ann@example.com"),
  sent_email_id: Described(Nullable(Uuid), "The sent email; null where it belongs to none."),
  campaign_id: Described(Nullable(Uuid), "The campaign."),
  metadata: Described(Type.Object({}, { additionalProperties: true }), "What else is known of it, by type."),
  timestamp: Described(Time, "Time of the event."),
});

const People = Nullable(
  Type.Integer({ description: "How many people; null for a campaign without individual tracking.", examples: [420] }),
);
const RateOfPeople = (example: number) =>
  Nullable(Type.Number({ description: "Null for a campaign without individual tracking.", examples: [example] }));
const Counted = Type.Object({
  total: Described(Type.Integer(), "By people, each time.", 610),
  unique: People,
  machine: Described(Type.Integer(), "By scanners and proxies.", 75),
});

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
  campaign_id: Described(Uuid, "The campaign."),
  total_emails: Described(Type.Integer(), "Recipients of the campaign.", 1200),
  sent: Described(Type.Integer(), "Mails that mail servers took.", 1180),
  failed: Described(Type.Integer(), "Recipients without a mail.", 20),
  delivered: Described(Type.Integer(), "Mails that have not come back since.", 1170),
  bounced: Described(Type.Integer(), "Mails that came back.", 10),
  bounces: Described(
    Type.Object({
      hard: Described(Type.Integer(), "The mailbox does not exist.", 6),
      soft: Described(Type.Integer(), "The mailbox could not take it.", 3),
      block: Described(Type.Integer(), "The server refused us.", 1),
    }),
    "Mails that came back, by kind.",
  ),
  complaints: Described(Type.Integer(), "Recipients who called it spam.", 1),
  unsubscribed: Described(Type.Integer(), "Recipients who unsubscribed by it.", 4),
  opens: Described(Counted, "Opens of this campaign."),
  clicks: Described(Counted, "Clicks in this campaign."),
  rates: Described(
    Type.Object({
      open: RateOfPeople(0.359),
      click: RateOfPeople(0.068),
      click_to_open: RateOfPeople(0.19),
      bounce: Described(Type.Number(), "Mails that came back, of those that servers took or sent back.", 0.008),
      unsubscribe: Described(Type.Number(), "Unsubscribed, of those delivered.", 0.003),
    }),
    "Shares between 0 and 1.",
  ),
  links: Described(
    Type.Array(
      Type.Object({
        url: Described(Type.String(), "An address (URL).", "https://lantern.example/books"),
        total: Described(Type.Integer(), "Clicks of people, each time.", 70),
        unique: People,
      }),
    ),
    "Its links, the most clicked first.",
  ),
  timeline: Described(
    Type.Array(
      Type.Object({
        at: Described(Time, "Begin of the interval."),
        opens: Described(Type.Integer(), "Opens of people in it.", 40),
        clicks: Described(Type.Integer(), "Clicks of people in it.", 9),
      }),
    ),
    "Opens and clicks over time.",
  ),
  variants: Type.Array(VariantResult, {
    description: "Extension. Of an A/B test, in the order of the request; empty where there is none.",
  }),
});

const DomainStats = Type.Object({
  domain: Described(Type.String(), "Domain of the recipients.", "example.com"),
  sent: Described(Type.Integer(), "Mails that mail servers took.", 1180),
  delivered: Described(Type.Integer(), "Mails that have not come back since.", 1170),
  hard: Described(Type.Integer(), "The mailbox does not exist.", 6),
  soft: Described(Type.Integer(), "The mailbox could not take it.", 3),
  block: Described(Type.Integer(), "The server refused us.", 1),
  complaints: Described(Type.Integer(), "Recipients who called it spam.", 1),
  opens: Described(Type.Integer(), "Mails that a person opened.", 420),
  last_refusal: Described(
    Nullable(Type.String()),
    "What its servers said when they refused last.",
    "421 4.7.0 Try again later",
  ),
  estimated: Type.Optional(Described(Bool, "Present only when `sent`, `delivered` and `opens` are estimates.")),
});

export const contract = {
  listSentEmails: {
    summary: "List sent emails with their delivery status",
    description: `Search looks into the recipient. Sortable: created_at, recipient, sent_at.`,
    params: Type.Object({
      ...ListQuery.properties,
      campaign: Type.Optional(Described(Uuid, "Only those of this campaign.")),
      status: Type.Optional(Described(SentEmailStatus, "Only those in this state.")),
      recipient: Type.Optional(Described(Email, "Only those to this address.")),
    }),
    returns: Page(SentEmail),
  },
  listEvents: {
    summary: "List opens, clicks, bounces, unsubscribes and complaints",
    description: `\`delivered\` is reported by webhooks and by the sent email's status. Search looks into the recipient. Sortable: created_at, timestamp.`,
    params: Type.Object({
      ...ListQuery.properties,
      type: Type.Optional(Described(OneOf(...EMAIL_EVENT_TYPES), "Only of this type.")),
      campaign: Type.Optional(Described(Uuid, "Only those of this campaign.")),
      recipient: Type.Optional(Described(Email, "Only those to this address.")),
      since: Type.Optional(DayOrTime("Only from this on.")),
      until: Type.Optional(DayOrTime("Exclusive.")),
    }),
    returns: Page(Event),
  },
  analytics: {
    summary: "Opens, clicks and bounces of a campaign",
    description:
      "`total` and `unique` count people, `machine` counts scanners and prefetching proxies. Where the company's `individual_tracking` was false when the campaign started, every hit counts in `total`, machines are recognized by their user agent alone, and `unique` and the rates of opens and clicks are null. `sent` is what mail servers took, `delivered` what has not come back since.",
    params: Type.Object({ id: Id }),
    returns: Analytics,
  },
  domainStats: {
    summary: "What becomes of mail, by the domain of its recipients",
    description:
      "The 100 domains that took most mail in the last `days` (30), most first. `sent` is what their servers took, `delivered` what has not come back since; `hard`, `soft`, `block` and `complaints` came in these days; `opens` counts mails that a person opened. `last_refusal` is the latest refusal, deferrals included. With `campaign` it is about the mails of that one alone, whenever they were sent. Of more than 10,000 mails, 2,000 bounces or 2,000 complaints a part is counted: the numbers are estimates then (`estimated`), and a domain that took few may be missing.",
    params: Type.Object({
      days: Type.Optional(Described(Type.Integer({ minimum: 1, maximum: 365 }), "How many days back it looks.", 7)),
      campaign: Type.Optional(Described(Uuid, "Only those of this campaign.")),
    }),
    returns: Type.Array(DomainStats),
  },
} as const satisfies ServiceContract;
