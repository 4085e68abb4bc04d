/** A company's overview. */
import type { ServiceContract } from "../define.ts";
import { Described, Type } from "../lib/shapes.ts";

const Count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] });
const date = Type.String({
  pattern: "^\\d{4}-\\d{2}-\\d{2}$",
  description: "A day in the company's time zone.",
  examples: ["2026-11-22"],
});

const Subscribers = Type.Object({
  total: Count("In all statuses.", 12_480),
  active: Count("Who gets mail.", 11_902),
  unconfirmed: Count("Who has not confirmed yet.", 84),
  unsubscribed: Count("Who gets no newsletters any more.", 391),
  bounced: Count("Whose mailbox does not exist.", 97),
  complained: Count("Who reported a mail as unwanted.", 6),
});

const Growth = Type.Object({
  date,
  subscribed: Type.Integer({ description: "Became active: new, confirmed, or back again.", examples: [41] }),
  unsubscribed: Type.Integer({ description: "Unsubscribed or complained.", examples: [4] }),
  bounced: Type.Integer({ description: "Their addresses turned out to be dead.", examples: [10] }),
});

const Sending = Type.Object({
  date,
  sent: Type.Integer({ description: "Mails that were taken by servers on this day.", examples: [1180] }),
  delivered: Type.Integer({ description: "Of these, what has not come back since.", examples: [1170] }),
  bounced: Type.Integer({ description: "Bounces of this day, at the delivery or later.", examples: [10] }),
  complained: Count("Reports of this day that a mail was unwanted.", 1),
  opens: Type.Integer({ description: "Mails that a person opened for the first time.", examples: [420] }),
  clicks: Type.Integer({ description: "Mails in which a person clicked for the first time.", examples: [80] }),
});

export const CompanyStats = Type.Object({
  subscribers: Described(Subscribers, "Subscribers."),
  growth: Type.Array(Growth, { description: "One for each day, the oldest first, today last." }),
  sending: Type.Array(Sending, { description: "The same days." }),
  campaigns: Type.Object(
    {
      scheduled: Count("Wait for their time.", 2),
      pending: Count("Wait for a sender.", 0),
      sending: Count("Are being sent.", 1),
      completed: Count("Were sent to everybody.", 96),
      partial: Count("Were sent to some.", 3),
      failed: Count("Were sent to nobody.", 1),
      cancelled: Count("Were cancelled, or stopped before the first mail.", 4),
    },
    { description: "By status." },
  ),
});

export const companyStats = {
  companyStats: {
    summary: "People, mail and campaigns at a glance",
    description:
      "Extension. Counted as it happens. The last `days` (30), today included, in the company's time zone (days before it was set, or before version 0.3, as they were counted then). What a campaign had sent, and what became of it, before the service counted by the day, stands on the day when it began.",
    params: Type.Object({
      days: Type.Optional(Described(Type.Integer({ minimum: 1, maximum: 365 }), "How many days back it looks.", 7)),
    }),
    returns: CompanyStats,
  },
} as const satisfies ServiceContract;
