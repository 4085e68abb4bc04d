import type { ServiceContract } from "../define.ts";
import { Bool, Described, Email, Line, Name, Nullable, Text, Time, Type, Uuid } from "../lib/shapes.ts";
import { MAX_BODY_LENGTH, MAX_SUBJECT_LENGTH } from "../lib/template/compile.ts";
import { ContentFields } from "../lib/template/content-shapes.ts";
import { Campaign, MAX_ATTACHMENTS } from "./contract-campaigns.ts";
import { Utm } from "./contract-utm.ts";
import { VariantsAsked } from "./contract-variants.ts";
import { MAX_COPIES } from "./send/inline-receivers.ts";

export const MAX_RECEIVERS = 10_000;

const Send = Type.Object({
  company: Type.Optional(Described(Uuid, "The company that it belongs to.")),
  name: Described(Name, "Name.", "Readers"),
  smtp_config_id: Described(Uuid, "The SMTP configuration that it leaves by."),
  attachment_ids: Type.Optional(
    Described(Type.Array(Uuid, { maxItems: MAX_ATTACHMENTS }), "Media files that are attached.", [
      "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b",
    ]),
  ),
  is_transactional: Type.Optional(
    Described(
      Bool,
      "True: a receipt, a password reset and the like. It goes before newsletters, also to those who unsubscribed, and again where it is in doubt.",
    ),
  ),
  utm: Type.Optional(Nullable(Utm)),
  idempotency_key: Type.Optional(
    Type.String({ minLength: 1, maxLength: 256, description: "Set from the header Idempotency-Key." }),
  ),
});

const Copies = Nullable(Type.Array(Email, { maxItems: MAX_COPIES }));
const Receiver = Type.Object(
  {
    email: Described(Email, "An email address."),
    cc: Type.Optional(Described(Copies, "Others who get a copy and are seen in it.", ["bob@example.com"])),
    bcc: Type.Optional(Described(Copies, "Others who get a copy and are not seen in it.", ["archive@example.com"])),
  },
  { title: "Receiver", description: "Any other field is a template variable.", additionalProperties: true },
);

/** What a receiver must be is checked in send/inline-receivers.ts, whose sentences name the receiver's index. */
const Receivers = Type.Array(Type.Unsafe<Record<string, unknown>>({ type: "object", shownAs: Receiver }), {
  minItems: 1,
  maxItems: MAX_RECEIVERS,
});

const RecipientTimezone = Type.Unsafe<"recipient">({
  type: "string",
  enum: ["recipient"],
  examples: ["recipient"],
  description:
    "Needs `scheduled_for`, whose clock (`09:00`, whatever its offset) is then local time in each recipient's timezone: the attribute `timezone` of the subscriber (an IANA name such as `Europe/Berlin`), else the company's. Where it is past already the mail goes at once. The campaign is `sending` from the first timezone in which somebody is; recipients and their timezones are fixed then, so that who joins the list later does not get it, and nobody gets it twice. A clock that a change to summer time leaves out is moved on by the hour left out; of one that comes twice the second counts.",
});

const ScheduledFor = Type.Optional(Nullable(Time));

export const Sent = Type.Composite([
  Campaign,
  Type.Object({
    company: Described(Uuid, "The company that it belongs to."),
    template: Described(Nullable(Uuid), "The template that it was made from."),
    lists: Described(Type.Array(Uuid), "The lists that it goes to.", ["0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"]),
    worker_task_id: Described(
      Type.String(),
      "For clients that expect it; nothing takes it.",
      "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b",
    ),
    warnings: Type.Array(Type.String(), {
      description:
        "Extension. Sentences about what the sender should know of this send, which is accepted all the same, and about a body that came with it: placeholders of other products, MJML, several lines without tags. A sender in a reserved domain (`.test`, `.example`, `.invalid`, `.localhost`) gets none on deliverability.",
      examples: [["`fist_name` is no variable that any subscriber has."]],
    }),
  }),
]);

export const sending = {
  sendToList: {
    summary: "Send a saved template to a subscriber list",
    description: "Exactly one of `list_id` and `segment_id` (extension) is needed. Returns before any mail is made.",
    params: Type.Composite([
      Send,
      Type.Object({
        template_id: Described(Uuid, "The template that it is made from."),
        list_id: Type.Optional(Described(Uuid, "The list that it goes to.")),
        segment_id: Type.Optional(Described(Uuid, "The segment that it goes to.")),
        scheduled_for: Described(ScheduledFor, "Start time; null: at once."),
        timezone: Type.Optional(Nullable(RecipientTimezone)),
        ...VariantsAsked,
      }),
    ]),
    returns: Sent,
    exactlyOne: ["list_id", "segment_id"],
    unknownFields: "all",
    example: {
      name: "October newsletter",
      template_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b",
      smtp_config_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5c",
      list_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5d",
    },
  },
  sendToReceivers: {
    summary: "Send a saved template to inline receivers",
    params: Type.Composite([
      Send,
      Type.Object({
        template_id: Described(Uuid, "The template that it is made from."),
        receivers: Described(Receivers, "Recipients, each with values for the variables."),
        scheduled_for: Described(ScheduledFor, "Start time; null: at once."),
      }),
    ]),
    returns: Sent,
    unknownFields: "all",
    // The specification names it here and says that it is not used.
    ignoredFields: ["list_id"],
    example: {
      name: "Order 1043",
      template_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b",
      smtp_config_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5c",
      is_transactional: true,
      receivers: [{ email: "ann@example.com", first_name: "Ann", order: "1043" }],
    },
  },
  sendCustom: {
    summary: "Send a custom email with inline subject and body",
    description: "Cannot be scheduled.",
    params: Type.Composite([
      Send,
      Type.Object({
        subject: Described(
          Type.String({ ...Line(MAX_SUBJECT_LENGTH), minLength: 1, pattern: "\\S" }),
          "Subject of the mail; variables allowed in what is to be sent.",
          "Six books for [[first_name]]",
        ),
        body: Described(
          Type.String({ ...Text(MAX_BODY_LENGTH), minLength: 1, pattern: "\\S" }),
          "The mail in HTML, with variables.",
          "<p>Hello [[first_name]].</p>",
        ),
        ...ContentFields,
        receivers: Described(Receivers, "Recipients, each with values for the variables."),
        scheduled_for: Type.Optional(Type.Unknown({ description: "Must be null or absent.", examples: [null] })),
      }),
    ]),
    returns: Sent,
    unknownFields: "all",
    example: {
      name: "Welcome",
      smtp_config_id: "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5c",
      subject: "Hello [[first_name]]",
      body: "<p>Hello [[first_name]], welcome.</p>",
      receivers: [{ email: "ann@example.com", cc: ["bob@example.com"], first_name: "Ann" }],
    },
  },
} as const satisfies ServiceContract;
