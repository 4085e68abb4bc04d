/** Overview of a company. */
import type { ServiceContract } from "../define.ts";
import { Described, Type } from "../lib/shapes.ts";

const Count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] });
const date = Type.String({
  pattern: "^\\d{4}-\\d{2}-\\d{2}$",
  description: "A day in the company's time zone.",
  examples: ["2026-11-22"],
});

const Subscribers = Type.Object({
  total: Count("Subscribers of any status.", 12_480),
  active: Count("Subscribers who get mail.", 11_902),
  unconfirmed: Count("Not confirmed yet.", 84),
  unsubscribed: Count("Get no more newsletters.", 391),
  bounced: Count("Mailbox does not exist.", 97),
  complained: Count("Reported a mail as spam.", 6),
});

const Growth = Type.Object({
  date,
  subscribed: Type.Integer({ description: "Became active: new, confirmed, or reactivated.", examples: [41] }),
  unsubscribed: Type.Integer({ description: "Unsubscribed or complained.", examples: [4] }),
  bounced: Type.Integer({ description: "Hard bounces.", examples: [10] }),
});

const Sending = Type.Object({
  date,
  sent: Type.Integer({ description: "Mails accepted by servers on this day.", examples: [1180] }),
  delivered: Type.Integer({ description: "Accepted mails that have not bounced since.", examples: [1170] }),
  bounced: Type.Integer({ description: "Bounces on this day, at delivery or later.", examples: [10] }),
  complained: Count("Spam complaints on this day.", 1),
  opens: Type.Integer({ description: "Mails first opened by a person on this day.", examples: [420] }),
  clicks: Type.Integer({ description: "Mails first clicked by a person on this day.", examples: [80] }),
});

export const CompanyStats = Type.Object({
  subscribers: Described(Subscribers, "Subscribers."),
  growth: Type.Array(Growth, { description: "One entry per day, oldest first, today last." }),
  sending: Type.Array(Sending, { description: "Mails on each of these days." }),
  campaigns: Type.Object(
    {
      scheduled: Count("Scheduled for later.", 2),
      pending: Count("Waiting for a sender.", 0),
      sending: Count("Being sent.", 1),
      completed: Count("Sent to all recipients.", 96),
      partial: Count("Sent to some recipients.", 3),
      failed: Count("Sent to no recipient.", 1),
      cancelled: Count("Cancelled, or stopped before the first mail.", 4),
    },
    { description: "Number of campaigns by status." },
  ),
});

export const companyStats = {
  companyStats: {
    summary: "Get the company's statistics",
    description:
      "Extension. Covers the last `days` (30), including today, in the company's time zone. Days before the time zone was set, or before version 0.3, stay as they were counted then. Results from before daily counting count on the day when their campaign began.",
    params: Type.Object({
      days: Type.Optional(
        Described(Type.Integer({ minimum: 1, maximum: 365 }), "Number of days, counting back from today.", 7),
      ),
    }),
    returns: CompanyStats,
  },
} as const satisfies ServiceContract;
