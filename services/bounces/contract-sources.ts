/** Where providers report bounces and complaints to, as clients see it. */
import { PROVIDERS } from "../../models/inbound-source.ts";
import type { ServiceContract } from "../define.ts";
import { ById, CreatedAt, Described, Id, ListQuery, Nothing, OneOf, Page, Text, Type, Uuid } from "../lib/shapes.ts";

const Provider = OneOf(...PROVIDERS);

const Source = Type.Object({
  id: Id,
  provider: Described(Provider, "Email provider that sends the reports."),
  url: Type.String({ format: "uri", description: "Where the provider posts to. It holds a token: keep it secret." }),
  created_at: CreatedAt,
});

/** The end of `url`. */
const Address = {
  provider: Described(Provider, "The provider that reports."),
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
        "SendGrid's verification key or Mailgun's HTTP signing key; of Postmark, SparkPost and Brevo the password of basic authentication, or the bearer token, that their requests must have. Write-only.",
      examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    }),
  ),
  smtp_config_id: Type.Optional(Described(Uuid, "Reports are about mail of this configuration.")),
});

export const sources = {
  listSources: { summary: "List inbound sources", params: ListQuery, returns: Page(Source) },
  createSource: {
    summary: "Create an address for a provider's reports",
    description:
      "Enter `url` as the webhook of bounces and complaints at the provider. `secret` is required for SendGrid and Mailgun; SES needs none: subscribe `url` to the topic of its notifications, it confirms by itself.",
    params: NewSource,
    returns: Source,
    example: { provider: "postmark", secret: "a long password" },
  },
  removeSource: { summary: "Delete an inbound source", params: ById, returns: Nothing },
  receiveReport: {
    summary: "Take in a provider's report",
    description:
      "For the providers themselves. 401 where the signature or secret is missing or wrong: nothing is done then. The body is what the provider documents.",
    params: Type.Object({
      ...Address,
      raw: Text(16 * 1024 * 1024),
      headers: Type.Record(Type.String(), Type.String()),
    }),
    returns: Type.Object({ accepted: Type.Integer({ description: "Bounces and complaints in it.", examples: [1] }) }),
    example: { RecordType: "Bounce", Type: "HardBounce", Email: "ann@example.com", Details: "550 5.1.1 unknown" },
  },
  findSource: {
    summary: "Whether there is such an inbound source (internal: of the gateway)",
    visibility: "public",
    params: Type.Object(Address),
    returns: Nothing,
  },
  readMailboxes: {
    summary: "Read the mailboxes that bounces arrive in (internal, repeated by each node)",
    visibility: "protected",
    params: Type.Object({}),
    returns: Type.Object({ mailboxes: Type.Integer() }),
  },
  workOffReports: {
    summary: "Take in what is left of providers' reports (internal, repeated by each node)",
    visibility: "protected",
    params: Type.Object({}),
    returns: Nothing,
  },
} as const satisfies ServiceContract;
