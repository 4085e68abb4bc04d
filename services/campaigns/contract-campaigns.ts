import { CAMPAIGN_STATUSES, CAMPAIGN_TYPES } from "../../models/campaign.ts";
import type { ServiceContract } from "../define.ts";
import { ById, ListQuery, Nullable, OneOf, Page, Stream, Time, Type, Uuid } from "../lib/shapes.ts";

export const Campaign = Type.Object({
  id: Uuid,
  name: Type.String(),
  campaign_type: OneOf(...CAMPAIGN_TYPES),
  status: OneOf(...CAMPAIGN_STATUSES),
  total_emails: Type.Integer(),
  sent_count: Type.Integer(),
  failed_count: Type.Integer(),
  suppressed_count: Type.Integer({
    description:
      "Receivers who were suppressed or unsubscribed, or had not confirmed, when the campaign started. Not part of `total_emails`. Those that a request named are sent emails with the status `suppressed`; of a list or segment they are only counted.",
  }),
  scheduled_for: Nullable(Time),
  error: Nullable(
    Type.String({
      description:
        "Why the campaign stopped by itself, for how many recipients the monthly quota left no room, or what the SMTP server that it waits for said last.",
    }),
  ),
  created_at: Time,
  updated_at: Time,
});

export const campaigns = {
  list: {
    summary: "List campaigns",
    description:
      "Search looks into the name. Sortable: created_at, failed_count, name, scheduled_for, sent_count, status, total_emails, updated_at.",
    params: Type.Composite([
      ListQuery,
      Type.Object({
        status: Type.Optional(OneOf(...CAMPAIGN_STATUSES)),
        campaign_type: Type.Optional(OneOf(...CAMPAIGN_TYPES)),
      }),
    ]),
    returns: Page(Campaign),
  },
  get: { summary: "Campaign details and status", params: ById, returns: Campaign },
  cancel: {
    summary: "Cancel a scheduled campaign",
    description: "Allowed in the status `scheduled` only.",
    params: ById,
    returns: Campaign,
  },
  stop: {
    summary: "Stop a campaign that is being sent",
    description:
      "Within two seconds no further mail of it begins. It ends `partial` where any mail was sent or may have been, else `cancelled`; `error` says who stopped it. What was not tried counts as failed, and resume sends it. Allowed in the status `pending` and `sending`.",
    params: ById,
    returns: Campaign,
  },
  resume: {
    summary: "Resume a campaign",
    description:
      "Tries again the recipients that failed or whose delivery is unknown, never those already sent, and writes those for whom the monthly quota had no room. Allowed in the status `partial`, and `failed` when some mail was sent.",
    params: ById,
    returns: Campaign,
  },
  export: {
    summary: "Results of a campaign as CSV",
    description: "Columns: email, status, error, sent_at, opened_at, clicked_at, opens, clicks.",
    params: ById,
    returns: Stream,
  },
} as const satisfies ServiceContract;
