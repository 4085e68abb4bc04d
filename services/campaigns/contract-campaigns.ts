import { CAMPAIGN_STATUSES, CAMPAIGN_TYPES } from "../../models/campaign.ts";
import type { ServiceContract } from "../define.ts";
import {
  BOUNDED,
  Bool,
  ById,
  CountedPage,
  DownloadPage,
  Line,
  ListQuery,
  Name,
  Nothing,
  Nullable,
  OneOf,
  Text,
  Time,
  Type,
  Uuid,
} from "../lib/shapes.ts";
import { MAX_BODY_LENGTH, MAX_SUBJECT_LENGTH } from "../lib/template/compile.ts";
import { VariantsShown } from "./contract-variants.ts";

export const MAX_ATTACHMENTS = 20;

const PeopleWho = (did: string) =>
  Nullable(
    Type.Integer({
      description: `How many of the recipients ${did}; machines are not counted. Null for a campaign without individual tracking.`,
    }),
  );

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
  timezone: Nullable(
    Type.Unsafe<"recipient">({
      type: "string",
      enum: ["recipient"],
      description:
        "`recipient`: the clock of `scheduled_for` is each recipient's own. Null: it is one instant for all.",
    }),
  ),
  next_zone_at: Nullable(
    Type.String({
      format: "date-time",
      description:
        "While a campaign goes by the recipients' timezones: when the hour of the next recipients comes. As long as it is scheduled, the earliest time at which it may begin. Null where nobody's hour is ahead.",
    }),
  ),
  error: Nullable(
    Type.String({
      description:
        "Why the campaign stopped by itself, for how many recipients the monthly quota left no room, or what it waits for: what its SMTP server said last, limits that cannot be counted while Redis is away, warm-up, or the winner of its variants.",
    }),
  ),
  subject: Type.String({ description: "As it was at the send, with its variables." }),
  template_id: Nullable(Uuid),
  list_id: Nullable(Uuid),
  segment_id: Nullable(Uuid),
  smtp_config_id: Uuid,
  is_transactional: Type.Boolean(),
  ...VariantsShown,
  started_at: Nullable(Time),
  finished_at: Nullable(Time),
  opens: PeopleWho("opened it"),
  clicks: PeopleWho("clicked"),
  created_at: Time,
  updated_at: Time,
});

const Failures = Type.Array(
  Type.Object({
    reason: Type.String({ description: "Unique; where texts differ by an address alone it is `<address>`." }),
    smtp_code: Nullable(Type.Integer()),
    enhanced_code: Nullable(Type.String()),
    bounce_type: Nullable(OneOf("hard", "soft", "block")),
    count: Type.Integer(),
    example: Nullable(Type.String({ description: "An address of those recipients; null where they have no rows." })),
    help: Type.String(),
    estimated: Type.Optional(Bool),
  }),
);

export const campaigns = {
  list: {
    summary: "List campaigns",
    description: `Search looks into the name. Sortable: created_at, failed_count, name, scheduled_for, sent_count, status, total_emails, updated_at. ${BOUNDED}`,
    params: Type.Composite([
      ListQuery,
      Type.Object({
        status: Type.Optional(OneOf(...CAMPAIGN_STATUSES)),
        campaign_type: Type.Optional(OneOf(...CAMPAIGN_TYPES)),
        created_after: Type.Optional(Type.String({ format: "date-time", description: "Exclusive." })),
        created_before: Type.Optional(Type.String({ format: "date-time", description: "Exclusive." })),
      }),
    ]),
    returns: CountedPage(Campaign),
  },
  get: { summary: "Campaign details and status", params: ById, returns: Campaign },
  update: {
    summary: "Edit a scheduled campaign",
    description:
      "Allowed in the status `scheduled` only. A `template_id`, also the same one, takes a new snapshot of the template; `subject` and `body` stand in place of the template's; variants that have none of their own follow. `list_id` takes the place of a segment, and the other way round; campaigns to receivers keep theirs. A new time or audience must have room in the month's quota.",
    params: Type.Composite([
      ById,
      Type.Object({
        name: Type.Optional(Name),
        scheduled_for: Type.Optional(Time),
        template_id: Type.Optional(Uuid),
        list_id: Type.Optional(Uuid),
        segment_id: Type.Optional(Uuid),
        subject: Type.Optional(Type.String({ ...Line(MAX_SUBJECT_LENGTH), minLength: 1, pattern: "\\S" })),
        body: Type.Optional(Type.String({ ...Text(MAX_BODY_LENGTH), minLength: 1, pattern: "\\S" })),
        attachment_ids: Type.Optional(Type.Array(Uuid, { maxItems: MAX_ATTACHMENTS })),
      }),
    ]),
    returns: Campaign,
    example: { name: "October newsletter", subject: "Six books for evenings" },
  },
  remove: {
    summary: "Delete a campaign that is over",
    description:
      "It is hidden at once, with its mails and events, and these go in the background. Links in its mails and the link to unsubscribe work as long as recipients are kept. Allowed in the status `completed`, `partial`, `failed` and `cancelled`.",
    params: ById,
    returns: Nothing,
  },
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
  failures: {
    summary: "Why recipients failed",
    description:
      "Everything in `failed_count` by reason, most first: refusals, bounces, mails in doubt, and what was not tried. Beyond 200 reasons the rest is one. Of more than 20,000 recipients a part is read: each `count` is an estimate then (`estimated`), all of them together are exact, and a reason of few may be missing.",
    params: ById,
    returns: Failures,
  },
  export: {
    summary: "Results of a campaign as CSV",
    description: "Columns: email, status, error, sent_at, opened_at, clicked_at, opens, clicks.",
    params: ById,
    returns: DownloadPage,
  },
} as const satisfies ServiceContract;
