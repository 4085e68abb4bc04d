/** Public shapes of inbound sources: the addresses that providers send webhooks to. */
import { PROVIDERS } from "../../models/inbound-source.ts";
import type { ServiceContract } from "../define.ts";
import { ById, CreatedAt, Described, Id, ListQuery, Nothing, OneOf, Page, Text, Type, Uuid } from "../lib/shapes.ts";

const Provider = OneOf(...PROVIDERS);

const Source = Type.Object({
  id: Id,
  provider: Described(Provider, "Email provider that sends the reports."),
  url: Type.String({
    format: "uri",
    description: "URL that the provider posts to. It contains a token: keep it secret.",
  }),
  created_at: CreatedAt,
});

/** Path parameters at the end of `url`. */
const SourcePath = {
  provider: Described(Provider, "Reporting provider."),
  token: Described(
    Type.String({ pattern: "^[A-Za-z0-9_-]{43}$" }),
    "The end of the source's `url`.",
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFG",
  ),
};

const NewSource = Type.Object({
  provider: Described(Provider, "Email provider that sends the reports."),
  secret: Type.Optional(
    Type.String({
      maxLength: 4_096,
      description:
        "SendGrid's verification key or Mailgun's HTTP signing key. For Postmark, SparkPost and Brevo: the basic authentication password or bearer token that their requests must carry. Write-only.",
      examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    }),
  ),
  smtp_config_id: Type.Optional(Described(Uuid, "Configuration whose mail the reports concern.")),
});

export const sources = {
  listSources: { summary: "List inbound sources", params: ListQuery, returns: Page(Source) },
  createSource: {
    summary: "Create an inbound source",
    description:
      "Creates an address for a provider's reports. Enter `url` as the webhook for bounces and complaints at the provider. `secret` is required for SendGrid and Mailgun; SES needs none: subscribe `url` to its notification topic, which is confirmed automatically.",
    params: NewSource,
    returns: Source,
    example: { provider: "postmark", secret: "a long password" },
  },
  removeSource: { summary: "Delete an inbound source", params: ById, returns: Nothing },
  receiveReport: {
    summary: "Receive a provider's report",
    description:
      "Called by the providers. 401 if the signature or secret is missing or wrong; nothing changes then. The body has the format that the provider documents.",
    params: Type.Object({
      ...SourcePath,
      raw: Text(16 * 1024 * 1024),
      headers: Type.Record(Type.String(), Type.String()),
    }),
    returns: Type.Object({
      accepted: Type.Integer({ description: "Number of bounces and complaints in the report.", examples: [1] }),
    }),
    example: { RecordType: "Bounce", Type: "HardBounce", Email: "ann@example.com", Details: "550 5.1.1 unknown" },
  },
  findSource: {
    summary: "Check that an inbound source exists (internal, called by the gateway)",
    visibility: "public",
    params: Type.Object(SourcePath),
    returns: Nothing,
  },
  readMailboxes: {
    summary: "Poll the IMAP mailboxes for bounces (internal, run periodically on each node)",
    visibility: "protected",
    params: Type.Object({}),
    returns: Type.Object({ mailboxes: Type.Integer() }),
  },
  retryReports: {
    summary: "Retry provider reports that could not be stored (internal, run periodically on each node)",
    visibility: "protected",
    params: Type.Object({}),
    returns: Nothing,
  },
} as const satisfies ServiceContract;
