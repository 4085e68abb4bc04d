import type { ServiceContract } from "../define.ts";
import { Bool, Described, Email, Name, Nullable, Time, Type, Uuid } from "../lib/shapes.ts";
import { Campaign, MAX_ATTACHMENTS } from "./contract-campaigns.ts";
import { Content, WrittenFields } from "./contract-content.ts";
import { Utm } from "./contract-utm.ts";
import { VariantsAsked } from "./contract-variants.ts";
import { MAX_COPIES } from "./send/inline-receivers.ts";

export const MAX_RECEIVERS = 10_000;

const Send = Type.Object({
  company: Type.Optional(Described(Uuid, "Company that owns it.")),
  name: Described(Name, "Name.", "Readers"),
  smtp_config_id: Described(Uuid, "SMTP configuration to send with."),
  attachment_ids: Type.Optional(
    Described(Type.Array(Uuid, { maxItems: MAX_ATTACHMENTS }), "Attached media files.", [
      "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b",
    ]),
  ),
  is_transactional: Type.Optional(
    Described(
      Bool,
      "True for receipts, password resets and similar mails. They are sent before newsletters, also to people who unsubscribed, and are retried when delivery is in doubt.",
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
    cc: Type.Optional(Described(Copies, "Visible copy recipients.", ["bob@example.com"])),
    bcc: Type.Optional(Described(Copies, "Hidden copy recipients.", ["archive@example.com"])),
  },
  {
    title: "Receiver",
    description: "A recipient; any other field is a template variable.",
    additionalProperties: true,
  },
);

/** Receivers are validated in send/inline-receivers.ts, whose messages name the receiver's index. */
const Receivers = Type.Array(Type.Unsafe<Record<string, unknown>>({ type: "object", shownAs: Receiver }), {
  minItems: 1,
  maxItems: MAX_RECEIVERS,
});

const RecipientTimezone = Type.Unsafe<"recipient">({
  type: "string",
  enum: ["recipient"],
  examples: ["recipient"],
  description:
    "Requires `scheduled_for`. Its wall-clock time (`09:00`, whatever the offset) is taken in each recipient's time zone: the subscriber's attribute `timezone` (an IANA name such as `Europe/Berlin`), or the company's. Where that time has already passed, the mail is sent at once. The campaign is `sending` from the first time zone that has recipients. Recipients and their time zones are fixed then: later members of the list do not get it, and nobody gets it twice. A time skipped by a change to daylight saving time moves forward by the skipped hour; of a repeated time the second one counts.",
});

const ScheduledFor = Type.Optional(Nullable(Time));

export const Sent = Type.Composite([
  Campaign,
  Type.Object({
    company: Described(Uuid, "Company that owns it."),
    template: Described(Nullable(Uuid), "Source template."),
    lists: Described(Type.Array(Uuid), "Lists that it is sent to.", ["0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b"]),
    worker_task_id: Described(
      Type.String(),
      "Accepted for compatibility; has no effect.",
      "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b",
    ),
    warnings: Type.Array(Type.String(), {
      description:
        "Extension. Warnings about this send, which is accepted all the same, and about a body in the request: placeholders of other products, MJML, several lines without tags. Senders in a reserved domain (`.test`, `.example`, `.invalid`, `.localhost`) get none about deliverability.",
      examples: [["`fist_name` is no variable that any subscriber has."]],
    }),
  }),
]);

export const sending = {
  sendToList: {
    summary: "Send a saved template to a subscriber list",
    description:
      "Requires exactly one of `list_id` and `segment_id` (extension), and exactly one of `template_id` and `content` (extension). Answers before any mail is created.",
    params: Type.Composite([
      Send,
      Type.Object({
        template_id: Type.Optional(Described(Uuid, "Template to use.")),
        content: Type.Optional(
          Content(
            "Extension. Content of this campaign alone, in place of a template; checked like one. Requires exactly one of `body` and `design`.",
          ),
        ),
        list_id: Type.Optional(Described(Uuid, "List to send to.")),
        segment_id: Type.Optional(Described(Uuid, "Segment to send to.")),
        scheduled_for: Described(ScheduledFor, "Start time; null: now."),
        timezone: Type.Optional(Nullable(RecipientTimezone)),
        ...VariantsAsked,
      }),
    ]),
    returns: Sent,
    exactlyOne: [
      ["list_id", "segment_id"],
      ["template_id", "content"],
    ],
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
        template_id: Described(Uuid, "Template to use."),
        receivers: Described(Receivers, "Recipients with their variables."),
        scheduled_for: Described(ScheduledFor, "Start time; null: now."),
      }),
    ]),
    returns: Sent,
    unknownFields: "all",
    // The specification lists this field and says that it is not used.
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
    description: "Cannot be scheduled. Requires exactly one of `body` and `design` (extension).",
    params: Type.Composite([
      Send,
      Type.Object({
        ...WrittenFields,
        receivers: Described(Receivers, "Recipients with their variables."),
        scheduled_for: Type.Optional(Type.Unknown({ description: "Must be null or absent.", examples: [null] })),
      }),
    ]),
    returns: Sent,
    exactlyOne: [["body", "design"]],
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
