/** Table of providers: how requests are authenticated and read. */
import type { ProviderName } from "../../../models/inbound-source.ts";
import { readBrevo } from "./brevo.ts";
import { carriesSecret, type ProviderRequest } from "./credentials.ts";
import type { ProviderEvent } from "./event.ts";
import { mailgunToken, readMailgun } from "./mailgun.ts";
import { readPostmark } from "./postmark.ts";
import { isFromSendgrid, readSendgrid, sendgridKey } from "./sendgrid.ts";
import { readSes } from "./ses.ts";
import { isFromSparkpost, readSparkpost } from "./sparkpost.ts";

interface Provider {
  /**
   * `none`: authenticated otherwise (SES: sns.ts). `optional`: without a secret, the token in the address is the only
   * credential.
   */
  secret: "none" | "optional" | "required";
  /** Returns a sentence if the secret is invalid. */
  secretError?: (secret: string) => string | undefined;
  isAuthentic: (request: ProviderRequest, secret: string) => boolean;
  /** Returns the bounces and complaints of a body and ignores everything else. */
  read: (body: unknown) => ProviderEvent[];
}

const NO_KEY = "Enter SendGrid's verification key: a P-256 public key in base64 or PEM.";

export const PROVIDER_TABLE: Readonly<Record<ProviderName, Provider>> = {
  ses: { secret: "none", isAuthentic: () => false, read: readSes },
  sendgrid: {
    secret: "required",
    secretError: (secret) => (sendgridKey(secret) ? undefined : NO_KEY),
    isAuthentic: isFromSendgrid,
    read: readSendgrid,
  },
  mailgun: {
    secret: "required",
    isAuthentic: (request, secret) => mailgunToken(request, secret) !== null,
    read: readMailgun,
  },
  postmark: { secret: "optional", isAuthentic: carriesSecret, read: readPostmark },
  sparkpost: { secret: "optional", isAuthentic: isFromSparkpost, read: readSparkpost },
  brevo: { secret: "optional", isAuthentic: carriesSecret, read: readBrevo },
};

export function secretErrorOf(provider: ProviderName, secret: string | undefined): string | undefined {
  const { secret: rule, secretError } = PROVIDER_TABLE[provider];
  if (secret === undefined) return rule === "required" ? "This field is required." : undefined;
  if (rule === "none") return "Amazon SES needs no secret. Leave this field out.";
  if (secret.trim() === "") return "This field may not be blank.";
  return secretError?.(secret);
}
