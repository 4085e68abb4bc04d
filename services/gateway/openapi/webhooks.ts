/** Describes the events posted to webhook endpoints (`webhooks` of OpenAPI), one per event type. */
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from "../../../models/email-event.ts";
import type { Schema } from "./describe-fields.ts";

const ID = "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b";
const MAIL = "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5c";
const CAMPAIGN = "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5d";

type Metadata = Record<string, [schema: Schema, description: string, example: unknown]>;

interface Kind {
  summary: string;
  /** Fields that `metadata` may contain. */
  metadata: Metadata;
  /** Subject of the event; `person` for people without a mail. */
  about: "mail" | "campaign" | "person";
}

const text: Schema = { type: "string" };
const integer: Schema = { type: "integer" };
const textOrNull: Schema = { type: ["string", "null"] };
const integerOrNull: Schema = { type: ["integer", "null"] };
const flag: Schema = { type: "boolean" };

const HIT: Metadata = {
  user_agent: [textOrNull, "User agent of the client.", "Mozilla/5.0"],
  ip: [textOrNull, "IP address.", "192.0.2.7"],
  machine: [flag, "True for a scanner or proxy.", false],
};
const SERVER: Metadata = {
  smtp_response: [textOrNull, "Reply of the mail server.", "250 2.0.0 Ok: queued as 4XyZ"],
  message_id: [text, "Message-ID of the mail.", "<0199f0a2.4b1e@lantern.example>"],
};
const PERSON: Metadata = {
  subscriber_id: [{ type: "string", format: "uuid" }, "The subscriber.", MAIL],
  lists: [{ type: "array", items: { type: "string", format: "uuid" } }, "Lists joined.", [CAMPAIGN]],
};

const KINDS: Record<WebhookEventType, Kind> = {
  delivered: { summary: "A mail server accepted the mail.", metadata: SERVER, about: "mail" },
  failed: {
    summary: "A mail failed permanently and is not retried.",
    metadata: { ...SERVER, error: [text, "Reason.", "550 5.1.1 User unknown"] },
    about: "mail",
  },
  opened: { summary: "A mail was opened.", metadata: HIT, about: "mail" },
  clicked: {
    summary: "A link in a mail was clicked.",
    metadata: { ...HIT, url: [text, "Target of the link.", "https://lantern.example/books"] },
    about: "mail",
  },
  bounced: {
    summary: "A mail bounced.",
    metadata: {
      bounce_type: [{ enum: ["hard", "soft", "block"] }, "Kind of bounce.", "hard"],
      source: [text, "Source: `smtp`, `dsn`, `provider` or `api`.", "smtp"],
      smtp_code: [integerOrNull, "SMTP reply code.", 550],
      enhanced_code: [textOrNull, "Enhanced status code (RFC 3463).", "5.1.1"],
      diagnostic: [textOrNull, "Text of the reply.", "550 5.1.1 User unknown"],
    },
    about: "mail",
  },
  unsubscribed: {
    summary: "A recipient unsubscribed.",
    metadata: { method: [text, "How: `one_click`, `page` or `preferences`.", "one_click"] },
    about: "mail",
  },
  complained: {
    summary: "A recipient reported the mail as spam.",
    metadata: { source: [text, "Source of the report.", "provider"] },
    about: "mail",
  },
  "campaign.completed": {
    summary: "A campaign ended.",
    metadata: {
      name: [text, "Name.", "October newsletter"],
      status: [{ enum: ["completed", "partial", "failed"] }, "Final status.", "completed"],
      total_emails: [integer, "Number of recipients.", 1200],
      sent_count: [integer, "Mails accepted by a mail server.", 1180],
      failed_count: [integer, "Recipients without an accepted mail.", 20],
    },
    about: "campaign",
  },
  subscribed: {
    summary: "A person became active or joined a list by the public form.",
    metadata: PERSON,
    about: "person",
  },
  confirmed: { summary: "A person confirmed by the link in a mail.", metadata: PERSON, about: "person" },
};

function payloadOf(type: WebhookEventType, { metadata, about }: Kind): { schema: Schema; example: object } {
  const fields = Object.entries(metadata);
  const properties = Object.fromEntries(
    fields.map(([name, [schema, description]]) => [name, { ...schema, description }]),
  );
  const metadataExample = Object.fromEntries(fields.map(([name, [, , example]]) => [name, example]));
  return {
    schema: {
      description: "The event.",
      allOf: [
        { $ref: "#/components/schemas/WebhookEvent" },
        {
          type: "object",
          properties: {
            type: { const: type, description: "Type of the event." },
            metadata: { type: "object", description: "Details of the event.", properties, examples: [metadataExample] },
          },
        },
      ],
    },
    example: {
      id: ID,
      type,
      recipient: about === "campaign" ? null : "ann@example.com",
      sent_email_id: about === "mail" ? MAIL : null,
      campaign_id: about === "person" ? null : CAMPAIGN,
      metadata: metadataExample,
      timestamp: "2026-10-05T08:00:00.000Z",
    },
  };
}

const header = (name: string, description: string, example: string, required = true) => ({
  name,
  in: "header",
  required,
  description,
  schema: { type: "string" },
  example,
});

/** Headers of Standard Webhooks and W3C Trace Context. */
export const webhookParameters: Record<string, object> = {
  webhookId: header("webhook-id", "Event id, the same for every attempt: use it to ignore repeated deliveries.", ID),
  webhookTimestamp: header("webhook-timestamp", "Time of this attempt, in seconds since 1970.", "1791187200"),
  webhookSignature: header(
    "webhook-signature",
    "`v1,` followed by the HMAC-SHA256 (base64) of `{id}.{timestamp}.{body}` with the endpoint's secret; while the secret is rotated, several signatures separated by spaces.",
    "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  ),
  webhookTraceparent: header(
    "traceparent",
    "Trace of this attempt (W3C Trace Context). Only sampled events have it, and the signature does not cover it.",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    false,
  ),
};

const nullable = (format: string, description: string, example: string) => ({
  type: ["string", "null"],
  format,
  description,
  examples: [example],
});

export const webhookSchemas: Record<string, Schema> = {
  WebhookEvent: {
    type: "object",
    description: "Body of a webhook request.",
    required: ["id", "type", "recipient", "sent_email_id", "campaign_id", "metadata", "timestamp"],
    properties: {
      id: { type: "string", format: "uuid", description: "The event's id.", examples: [ID] },
      type: { enum: WEBHOOK_EVENT_TYPES, description: "Type of the event." },
      recipient: nullable("email", "Recipient; null for events about a campaign.", "ann@example.com"),
      sent_email_id: nullable("uuid", "Sent email; null if the event concerns none.", MAIL),
      campaign_id: nullable("uuid", "Campaign; null if the event concerns none.", CAMPAIGN),
      metadata: { type: "object", description: "Details by type.", examples: [{ machine: false }] },
      timestamp: {
        type: "string",
        format: "date-time",
        description: "Time of the event.",
        examples: ["2026-10-05T08:00:00.000Z"],
      },
    },
  },
};

/** `campaign.completed` becomes campaignCompleted. */
const operationIdOf = (type: string) =>
  `on${type.replaceAll(/(^|\.)(\w)/g, (_, __, letter: string) => letter.toUpperCase())}`;

const responses = {
  "2XX": { description: "Received." },
  default: { description: "Not acknowledged: the delivery is retried as described under Webhook endpoints." },
};
const parameters = Object.keys(webhookParameters).map((name) => ({ $ref: `#/components/parameters/${name}` }));

export const webhooks: Record<string, object> = Object.fromEntries(
  WEBHOOK_EVENT_TYPES.map((type) => {
    const kind = KINDS[type];
    const operation = {
      operationId: operationIdOf(type),
      summary: kind.summary,
      tags: ["Webhook endpoints"],
      // Authenticated by the signature.
      security: [],
      parameters,
      requestBody: { required: true, content: { "application/json": payloadOf(type, kind) } },
      responses,
    };
    return [type, { post: operation }];
  }),
);
