/**
 * Reads Twilio SendGrid's event webhook. Reference: www.twilio.com/docs/sendgrid/for-developers/tracking-events, "Event
 * Webhook Reference" and "Security Features".
 */
import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { isRecent, type ProviderRequest } from "./credentials.ts";
import {
  type Fields,
  fieldsOf,
  listOf,
  type ProviderEvent,
  providerEvent,
  statusCodeOf,
  textOf,
  type Word,
  wordTable,
} from "./event.ts";

/** SendGrid retries for 24 hours; an older request is a replay. */
const MAX_AGE_SECONDS = 25 * 3_600;

/** Parses the key as the console shows it (base64 of DER) or as PEM. Null unless it is a P-256 key. */
export function sendgridKey(secret: string): KeyObject | null {
  try {
    const key = secret.includes("-----BEGIN")
      ? createPublicKey(secret)
      : createPublicKey({ key: Buffer.from(secret, "base64"), format: "der", type: "spki" });
    return key.asymmetricKeyDetails?.namedCurve === "prime256v1" ? key : null;
  } catch {
    return null;
  }
}

export function isFromSendgrid({ headers, body }: ProviderRequest, secret: string, now = Date.now()): boolean {
  const signature = headers["x-twilio-email-event-webhook-signature"] ?? "";
  const timestamp = headers["x-twilio-email-event-webhook-timestamp"] ?? "";
  const key = sendgridKey(secret);
  if (!key || !isRecent(timestamp, MAX_AGE_SECONDS, now)) return false;
  return verify("sha256", Buffer.from(timestamp + body), key, Buffer.from(signature, "base64"));
}

/** Values of `bounce_classification`; "Technical Failure" and "Unclassified" tell nothing. */
const CLASSES = wordTable({
  "invalid address": "mailbox-unknown",
  "mailbox unavailable": "mailbox-status",
  content: "content-refused",
  reputation: "blocked",
  "frequency or volume too high": "blocked",
});

/** Reasons for which SendGrid dropped a message without sending it. */
const DROPPED: readonly [RegExp, Word][] = [
  [/bounced address|spam reporting address/i, "on-providers-list"],
  [/invalid/i, "mailbox-unknown"],
  [/spam content/i, "content-refused"],
];

function wordOf({ event, type, bounce_classification, reason }: Fields): Word | null {
  switch (event) {
    case "spamreport":
      return "complaint";
    case "dropped":
      return DROPPED.find(([words]) => words.test(textOf(reason)))?.[1] ?? "blocked";
    case "bounce": {
      const classified = CLASSES.get(textOf(bounce_classification).toLowerCase());
      if (classified) return classified;
      // SendGrid reports a refusal as `bounce` if it will not try the address again.
      return type === "blocked" ? "blocked" : "mailbox-unknown";
    }
    default:
      return null;
  }
}

export function readSendgrid(body: unknown): ProviderEvent[] {
  return listOf(body).flatMap((event) => {
    const fields = fieldsOf(event);
    const word = wordOf(fields);
    if (!word) return [];
    const { email: recipient, reason: diagnostic, status } = fields;
    const statusCode = statusCodeOf(status, diagnostic);
    return providerEvent({
      provider: "sendgrid",
      event,
      verdicts: [{ word, recipient, statusCode, diagnostic }],
      messageId: fields["smtp-id"],
    });
  });
}
