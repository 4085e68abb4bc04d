import { CAMPAIGN_STATUSES, CAMPAIGN_TYPES } from "../../models/campaign.ts";
import type { ServiceContract } from "../define.ts";
import {
  Bool,
  ById,
  CreatedAt,
  DayOrTime,
  Described,
  DownloadPage,
  Id,
  Line,
  ListQuery,
  Name,
  Nothing,
  Nullable,
  OneOf,
  Page,
  Text,
  Time,
  Type,
  UpdatedAt,
  Uuid,
} from "../lib/shapes.ts";
import { MAX_BODY_LENGTH, MAX_SUBJECT_LENGTH } from "../lib/template/compile.ts";
import { VariantsShown } from "./contract-variants.ts";

export const MAX_ATTACHMENTS = 20;

const PeopleWho = (did: string, example: number) =>
  Nullable(
    Type.Integer({
      description: `How many of the recipients ${did}; machines are not counted. Null for a campaign without individual tracking.`,
      examples: [example],
    }),
  );

export const Campaign = Type.Object({
  id: Id,
  name: Described(Type.String(), "Name; recipients do not see it.", "October newsletter"),
  campaign_type: Described(OneOf(...CAMPAIGN_TYPES), "Which of the three sends it came by."),
  status: Described(
    OneOf(...CAMPAIGN_STATUSES),
    "`scheduled`, `pending` (its recipients are being written), `sending`, and then `completed`, `partial`, `failed` or `cancelled`.",
  ),
  total_emails: Described(Type.Integer(), "Recipients that it has mails for.", 1200),
  sent_count: Described(Type.Integer(), "Mails that a mail server took.", 1180),
  failed_count: Described(Type.Integer(), "Recipients without a mail: refused, in doubt, or not tried.", 20),
  suppressed_count: Type.Integer({
    description:
      "Receivers who were suppressed or unsubscribed, or had not confirmed, when the campaign started. Not part of `total_emails`. Those that a request named are sent emails with the status `suppressed`; of a list or segment they are only counted.",
    examples: [3],
  }),
  scheduled_for: Described(Nullable(Time), "Start time; null: at once."),
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
      examples: ["The monthly quota left no room for 20 recipients."],
    }),
  ),
  subject: Type.String({
    description: "As it was at the send, with its variables.",
    examples: ["Six books for [[first_name]]"],
  }),
  template_id: Described(Nullable(Uuid), "The template that it is made from."),
  list_id: Described(Nullable(Uuid), "The list that it goes to."),
  segment_id: Described(Nullable(Uuid), "The segment that it goes to."),
  smtp_config_id: Described(Uuid, "The SMTP configuration that it leaves by."),
  is_transactional: Described(
    Type.Boolean(),
    "True: a receipt, a password reset and the like. It goes before newsletters, also to those who unsubscribed, and again where it is in doubt.",
  ),
  ...VariantsShown,
  started_at: Described(Nullable(Time), "When the first recipients were written."),
  finished_at: Described(Nullable(Time), "Time of the end of sending."),
  opens: PeopleWho("opened it", 420),
  clicks: PeopleWho("clicked", 80),
  created_at: CreatedAt,
  updated_at: UpdatedAt,
});

const Failures = Type.Array(
  Type.Object({
    reason: Type.String({
      description: "Unique; where texts differ by an address alone it is `<address>`.",
      examples: ["550 User unknown"],
    }),
    smtp_code: Described(Nullable(Type.Integer()), "The refusing server's code.", 550),
    enhanced_code: Described(Nullable(Type.String()), "Its enhanced code (RFC 3463).", "5.1.1"),
    bounce_type: Described(
      Nullable(OneOf("hard", "soft", "block")),
      "`hard`: no such mailbox; `soft`: it cannot take this mail now; `block`: the server refuses us.",
    ),
    count: Described(Type.Integer(), "Recipients that failed for this reason.", 12),
    example: Nullable(
      Type.String({
        description: "An address of those recipients; null where they have no rows.",
        examples: ["nobody@example.com"],
      }),
    ),
    help: Described(Type.String(), "How to fix it.", "Publish the record that `expected` shows."),
    estimated: Type.Optional(Described(Bool, "Present only when `count` is an estimate.")),
  }),
);

export const campaigns = {
  list: {
    summary: "List campaigns",
    description: `Search looks into the name. Sortable: created_at, failed_count, name, scheduled_for, sent_count, status, total_emails, updated_at.`,
    params: Type.Composite([
      ListQuery,
      Type.Object({
        status: Type.Optional(Described(OneOf(...CAMPAIGN_STATUSES), "Only those in this state.")),
        campaign_type: Type.Optional(Described(OneOf(...CAMPAIGN_TYPES), "Only those of this type.")),
        created_after: Type.Optional(DayOrTime("Exclusive.")),
        created_before: Type.Optional(DayOrTime("Exclusive.")),
      }),
    ]),
    returns: Page(Campaign),
  },
  get: { summary: "Campaign details and status", params: ById, returns: Campaign },
  update: {
    summary: "Edit a scheduled campaign",
    description:
      "Allowed in the status `scheduled` only. A `template_id`, also the same one, takes a new snapshot of the template; `subject` and `body` stand in place of the template's; variants that have none of their own follow. `list_id` takes the place of a segment, and the other way round; campaigns to receivers keep theirs. A new time or audience must have room in the month's quota.",
    params: Type.Composite([
      ById,
      Type.Object({
        name: Type.Optional(Described(Name, "Name.", "Readers")),
        scheduled_for: Type.Optional(Described(Time, "The new time.")),
        template_id: Type.Optional(Described(Uuid, "The template that it is made from.")),
        list_id: Type.Optional(Described(Uuid, "The list that it goes to.")),
        segment_id: Type.Optional(Described(Uuid, "The segment that it goes to.")),
        subject: Type.Optional(
          Described(
            Type.String({ ...Line(MAX_SUBJECT_LENGTH), minLength: 1, pattern: "\\S" }),
            "Subject of the mail; variables allowed in what is to be sent.",
            "Six books for [[first_name]]",
          ),
        ),
        body: Type.Optional(
          Described(
            Type.String({ ...Text(MAX_BODY_LENGTH), minLength: 1, pattern: "\\S" }),
            "The mail in HTML, with variables.",
            "<p>Hello [[first_name]].</p>",
          ),
        ),
        attachment_ids: Type.Optional(
          Described(Type.Array(Uuid, { maxItems: MAX_ATTACHMENTS }), "Media files that are attached.", [
            "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b",
          ]),
        ),
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
