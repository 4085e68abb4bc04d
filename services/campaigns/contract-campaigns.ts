import { CAMPAIGN_STATUSES, CAMPAIGN_TYPES } from "../../models/campaign.ts";
import type { ServiceContract } from "../define.ts";
import { DesignTree } from "../lib/design/shape.ts";
import {
  Bool,
  ById,
  CreatedAt,
  DayOrTime,
  Described,
  DownloadPage,
  Filter,
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
import { ContentFields } from "../lib/template/content-shapes.ts";
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
  name: Described(Type.String(), "Name; not shown to recipients.", "October newsletter"),
  campaign_type: Described(OneOf(...CAMPAIGN_TYPES), "Kind of send that created it."),
  status: Described(
    OneOf(...CAMPAIGN_STATUSES),
    "`scheduled`, `pending` (recipients are being prepared), `sending`, then `completed`, `partial`, `failed` or `cancelled`.",
  ),
  total_emails: Described(Type.Integer(), "Number of recipients with a mail.", 1200),
  sent_count: Described(Type.Integer(), "Mails accepted by a mail server.", 1180),
  failed_count: Described(Type.Integer(), "Recipients without an accepted mail: refused, in doubt, or not tried.", 20),
  suppressed_count: Type.Integer({
    description:
      "Receivers who were suppressed, unsubscribed or unconfirmed when the campaign started. Not part of `total_emails`. Receivers named in a request are sent emails with the status `suppressed`; those of a list or segment are only counted.",
    examples: [3],
  }),
  scheduled_for: Described(Nullable(Time), "Start time; null: now."),
  timezone: Nullable(
    Type.Unsafe<"recipient">({
      type: "string",
      enum: ["recipient"],
      description: "`recipient`: `scheduled_for` is in each recipient's time zone. Null: one instant for all.",
    }),
  ),
  next_zone_at: Nullable(
    Type.String({
      format: "date-time",
      description:
        "For a campaign in recipients' time zones: when the next recipients' time comes; while scheduled, the earliest possible start. Null if no more recipients wait.",
    }),
  ),
  error: Nullable(
    Type.String({
      description:
        "Why the campaign stopped automatically, how many recipients exceeded the monthly quota, or what it waits for: the SMTP server's last reply, limits that cannot be counted while Redis is unavailable, warm-up, or the winning variant.",
      examples: ["The monthly quota left no room for 20 recipients."],
    }),
  ),
  subject: Type.String({
    description: "As sent, with variables.",
    examples: ["Six books for [[first_name]]"],
  }),
  template_id: Described(Nullable(Uuid), "Template to use."),
  list_id: Described(Nullable(Uuid), "List to send to."),
  segment_id: Described(Nullable(Uuid), "Segment to send to."),
  smtp_config_id: Described(Uuid, "SMTP configuration to send with."),
  is_transactional: Described(
    Type.Boolean(),
    "True for receipts, password resets and similar mails. They are sent before newsletters, also to people who unsubscribed, and are retried when delivery is in doubt.",
  ),
  ...VariantsShown,
  started_at: Described(Nullable(Time), "Time when the first recipients were prepared."),
  finished_at: Described(Nullable(Time), "Time of the end of sending."),
  opens: PeopleWho("opened it", 420),
  clicks: PeopleWho("clicked", 80),
  created_at: CreatedAt,
  updated_at: UpdatedAt,
});

const FullCampaign = Type.Composite([
  Campaign,
  Type.Object({
    design: Described(
      Nullable(DesignTree),
      "Extension. Design that the campaign's own content was made from; null for a template or HTML. Not in lists.",
    ),
  }),
]);

const Failures = Type.Array(
  Type.Object({
    reason: Type.String({
      description: "Unique text; addresses within are replaced by `<address>`.",
      examples: ["550 User unknown"],
    }),
    smtp_code: Described(Nullable(Type.Integer()), "SMTP reply code.", 550),
    enhanced_code: Described(Nullable(Type.String()), "Enhanced status code (RFC 3463).", "5.1.1"),
    bounce_type: Described(
      Nullable(OneOf("hard", "soft", "block")),
      "`hard`: the mailbox does not exist; `soft`: temporary problem; `block`: the server refuses the sender.",
    ),
    count: Described(Type.Integer(), "Recipients that failed for this reason.", 12),
    example: Nullable(
      Type.String({
        description: "Example address; null if no rows are kept.",
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
    description: `Searches the name. Sortable: created_at, failed_count, name, scheduled_for, sent_count, status, total_emails, updated_at.`,
    params: Type.Composite([
      ListQuery,
      Type.Object({
        status: Filter(OneOf(...CAMPAIGN_STATUSES), "Only entries with this status."),
        campaign_type: Filter(OneOf(...CAMPAIGN_TYPES), "Only entries of this type."),
        created_after: Type.Optional(DayOrTime("Exclusive.")),
        created_before: Type.Optional(DayOrTime("Exclusive.")),
      }),
    ]),
    returns: Page(Campaign),
  },
  get: { summary: "Campaign details and status", params: ById, returns: FullCampaign },
  update: {
    summary: "Edit a scheduled campaign",
    description:
      "Allowed while the status is `scheduled`. A `template_id`, even the same one, takes a new snapshot of the template; `subject`, `preheader`, `text_body`, and `body` or `design` override it, and variants without their own follow. A new `body` or `design` replaces both, and without a `text_body` also the text part. `list_id` replaces a segment and vice versa; campaigns to receivers keep theirs. A new time or audience must fit the month's quota.",
    params: Type.Composite([
      ById,
      Type.Object({
        name: Type.Optional(Described(Name, "Name.", "Readers")),
        scheduled_for: Type.Optional(Described(Time, "New start time.")),
        template_id: Type.Optional(Described(Uuid, "Template to use.")),
        list_id: Type.Optional(Described(Uuid, "List to send to.")),
        segment_id: Type.Optional(Described(Uuid, "Segment to send to.")),
        subject: Type.Optional(
          Described(
            Type.String({ ...Line(MAX_SUBJECT_LENGTH), minLength: 1, pattern: "\\S" }),
            "Subject of the mail. Templates may contain variables.",
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
        preheader: ContentFields.preheader,
        text_body: ContentFields.text_body,
        design: Type.Optional(Described(DesignTree, "Extension. Design, in place of `body`.")),
        attachment_ids: Type.Optional(
          Described(Type.Array(Uuid, { maxItems: MAX_ATTACHMENTS }), "Attached media files.", [
            "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b",
          ]),
        ),
      }),
    ]),
    returns: FullCampaign,
    example: { name: "October newsletter", subject: "Six books for evenings" },
  },
  ownText: {
    summary: "Content of a campaign that came with the request: HTML as it is sent, and its design",
    visibility: "public",
    params: ById,
    returns: Type.Object({
      body: Nullable(Type.String()),
      preheader: Nullable(Type.String()),
      design: Nullable(DesignTree),
    }),
  },
  remove: {
    summary: "Delete a finished campaign",
    description:
      "Hides the campaign, its mails and events at once and deletes them in the background. Links in its mails and unsubscribe links work as long as recipients are kept. Allowed in the status `completed`, `partial`, `failed` and `cancelled`.",
    params: ById,
    returns: Nothing,
  },
  cancel: {
    summary: "Cancel a scheduled campaign",
    description: "Allowed while the status is `scheduled`.",
    params: ById,
    returns: Campaign,
  },
  stop: {
    summary: "Stop a campaign",
    description:
      "No new mail starts after two seconds. The campaign ends `partial` if any mail was or may have been sent, else `cancelled`; `error` names who stopped it. Recipients that were not tried count as failed, and resume sends to them. Allowed in the status `pending` and `sending`.",
    params: ById,
    returns: Campaign,
  },
  resume: {
    summary: "Resume a campaign",
    description:
      "Retries recipients that failed or whose delivery is unknown, never those already sent, and creates mails for recipients that exceeded the monthly quota. Allowed in the status `partial`, and `failed` if some mail was sent.",
    params: ById,
    returns: Campaign,
  },
  failures: {
    summary: "Group a campaign's failures by reason",
    description:
      "Groups everything in `failed_count` by reason, most frequent first: refusals, bounces, mails in doubt, and recipients not tried. Reasons beyond 200 are combined. Above 20,000 recipients a sample is read: each `count` is an estimate (`estimated`), their sum is exact, and rare reasons may be missing.",
    params: ById,
    returns: Failures,
  },
  export: {
    summary: "Download a campaign's results as CSV",
    description: "Columns: email, status, error, sent_at, opened_at, clicked_at, opens, clicks.",
    params: ById,
    returns: DownloadPage,
  },
} as const satisfies ServiceContract;
