import type { ServiceContract } from "../define.ts";
import type { RawMessage } from "../lib/raw-message.ts";
import { Bool, ById, Described, Nullable, type Static, Type, Uuid } from "../lib/shapes.ts";
import { contract as designs } from "./contract-designs.ts";
import { PreviewResult, contract as templates } from "./contract-templates.ts";

const Data = Type.Record(Type.String(), Type.Unknown());

const Message = Type.Unsafe<string | RawMessage>({});

const Recipient = Type.Object({
  /** The sent email's id. */
  id: Uuid,
  /** The part of the Message-ID before the "@"; default: the id. */
  message_id: Type.Optional(Type.String()),
  seq: Type.Optional(Type.Integer()),
  email: Type.String(),
  cc: Type.Optional(Nullable(Type.Array(Type.String()))),
  bcc: Type.Optional(Nullable(Type.Array(Type.String()))),
  first_name: Type.Optional(Nullable(Type.String())),
  last_name: Type.Optional(Nullable(Type.String())),
  /** Subscriber of the recipient; without it `[[preferences_url]]` is the unsubscribe page. */
  subscriber_id: Type.Optional(Nullable(Uuid)),
  variant: Type.Optional(Nullable(Type.Integer())),
  /** Attributes, or their JSON, which is then parsed when the email is rendered. */
  attributes: Type.Optional(Nullable(Type.Union([Data, Type.String()]))),
  variables: Type.Optional(Nullable(Type.Union([Data, Type.String()]))),
});

export const Rendered = Type.Union([
  Type.Object({
    ok: Type.Literal(true),
    /** The message as latin1 characters: CRLF lines, none beginning with ".", the last one ended, no final dot. */
    raw: Message,
    /** The same email without tracking, for cc and bcc. Only if the recipient has copies. */
    copy: Type.Optional(Message),
    /**
     * Attachments and the end of the message, to be written directly after `raw` and after `copy`. One string for every
     * recipient of the campaign, so that it is never copied. If absent, `raw` is the whole message.
     */
    tail: Type.Optional(Type.String()),
    /** The email can only be handed to a server with SMTPUTF8 (and then as 8BITMIME). */
    smtputf8: Bool,
    eightBit: Bool,
  }),
  Type.Object({ ok: Type.Literal(false), error: Type.String() }),
]);
export type Rendered = Static<typeof Rendered>;

/** Makes the email when a connection asks for it: what waits takes little memory. */
export type MakeMail = () => Rendered;

/** Content of a test send, already validated by the caller. */
export const TestContent = Type.Object({
  smtp_config_id: Uuid,
  to: Type.Array(Type.String()),
  template_id: Type.Optional(Uuid),
  subject: Type.Optional(Type.String()),
  body: Type.Optional(Type.String()),
  preheader: Type.Optional(Nullable(Type.String())),
  text_body: Type.Optional(Nullable(Type.String())),
  variables: Type.Optional(Data),
  attachment_ids: Type.Optional(Type.Array(Uuid)),
});
export type TestContent = Static<typeof TestContent>;

/** Content of a draft, already validated by the caller. */
export const DraftContent = Type.Object({
  template_id: Type.Optional(Uuid),
  /** Replaces the template's. */
  subject: Type.Optional(Type.String()),
  body: Type.Optional(Type.String()),
  preheader: Type.Optional(Nullable(Type.String())),
  text_body: Type.Optional(Nullable(Type.String())),
  is_transactional: Type.Optional(Bool),
  /** The people it is meant for. */
  list_id: Type.Optional(Uuid),
  /** True if the request gives the receivers and their values. */
  is_to_receivers: Type.Optional(Bool),
  /** Values come from `variables`, then from the subscriber who has this address. */
  email: Type.Optional(Type.String()),
  variables: Type.Optional(Data),
});
export type DraftContent = Static<typeof DraftContent>;

export const contract = {
  ...templates,
  ...designs,

  campaignContent: {
    summary: "Get a campaign's content",
    description:
      "Extension. Subject and HTML of the snapshot that is sent, with personal variables empty or set to their defaults. Tracked links appear as in the statistics; unsubscribe links do not work.",
    params: Type.Object({
      ...ById.properties,
      variant: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 4,
          examples: [0],
          description: "Index of an A/B test's variant, in the order of the request. 404 if there is none.",
        }),
      ),
    }),
    returns: Type.Object({
      subject: Described(
        Type.String({ examples: ["Six books for evenings"] }),
        "Subject of the mail. Templates may contain variables.",
      ),
      html: Described(Type.String({ examples: ["<p>Hello there,</p>"] }), "The HTML part."),
    }),
  },
  previewDraft: {
    summary: "Preview a draft as a recipient sees it",
    visibility: "public",
    params: DraftContent,
    returns: PreviewResult,
  },

  renderMails: {
    summary: "Messages for recipients of a campaign",
    visibility: "protected",
    description:
      "In the order of the recipients. One that cannot be rendered gets an error and fails no other. Signed mails are made " +
      "at once, because signing takes place on other threads; any other is a function that makes it.",
    // Not validated: recipients come from a sender's own rows. Validation would cost 1.4 µs each, and a chunk with many
    // large attributes would exceed the limit on values that is meant for requests.
    params: Type.Unsafe<{ campaignId: string; recipients: readonly Static<typeof Recipient>[] }>({
      type: "object",
      required: ["campaignId", "recipients"],
      properties: { campaignId: Uuid },
    }),
    returns: Type.Unsafe<{ mails: (Rendered | MakeMail)[] }>({ type: "object" }),
  },
  renderTests: {
    summary: "Mails of a test send, and what should be known of its content",
    visibility: "protected",
    description: "In the order of the recipients. Not tracked; made of what stands in the database now.",
    params: TestContent,
    returns: Type.Unsafe<{ mails: (Rendered | MakeMail)[]; warnings: string[] }>({ type: "object" }),
  },
  renderView: {
    summary: "One mail as a page: untracked, without pixel",
    visibility: "public",
    params: Type.Object({ sentEmailId: Uuid }),
    returns: Type.Object({ subject: Type.String(), html: Type.String(), companyId: Uuid }),
  },
  renderArchived: {
    summary: "A campaign as anybody may read it: with all variables of a person empty, or as their defaults are",
    visibility: "public",
    description: "Whether it may be read is the caller's business.",
    params: Type.Object({ companyId: Uuid, campaignId: Uuid, listId: Uuid }),
    returns: Type.Object({ subject: Type.String(), html: Type.String() }),
  },
  archivedSubjects: {
    summary: "Subjects of campaigns as anybody may read them",
    visibility: "public",
    description: "In the order of the ids; empty for one that does not exist.",
    params: Type.Object({ companyId: Uuid, campaignIds: Type.Array(Uuid, { maxItems: 100 }) }),
    returns: Type.Object({ subjects: Type.Array(Type.String()) }),
  },
  subjects: {
    summary: "Rendered subjects of sent emails",
    visibility: "public",
    description: "In the order of the ids; empty for one that does not exist.",
    params: Type.Object({ ids: Type.Array(Uuid, { maxItems: 500 }) }),
    returns: Type.Object({ subjects: Type.Array(Type.String()) }),
  },
} as const satisfies ServiceContract;
