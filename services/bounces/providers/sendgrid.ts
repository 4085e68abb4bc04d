/**
 * Twilio SendGrid's event webhook. Source of names and signature: www.twilio.com/docs/sendgrid/for-developers/tracking-events,
 * "Event Webhook Reference" and "Security Features".
 */
import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { isRecent, type ProviderRequest } from "./credentials.ts";
import {
  BLOCKED,
  COMPLAINT,
  CONTENT_REFUSED,
  type Fields,
  fieldsOf,
  listOf,
  MAILBOX_STATUS,
  type Meaning,
  meaningOfStatus,
  meanings,
  ON_PROVIDERS_LIST,
  type ProviderEvent,
  providerEvent,
  statusCodeOf,
  textOf,
  UNKNOWN_MAILBOX,
} from "./event.ts";

/** A report is repeated for 24 hours; an older one is somebody's copy. */
const MAX_AGE_SECONDS = 25 * 3_600;

/** The key as the console shows it (base64 of DER), or as PEM. Null where it is no key on the curve P-256. */
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

/** `bounce_classification`; "Technical Failure" and "Unclassified" say nothing. */
const CLASSES = meanings({
  "invalid address": UNKNOWN_MAILBOX,
  "mailbox unavailable": MAILBOX_STATUS,
  content: CONTENT_REFUSED,
  reputation: BLOCKED,
  "frequency or volume too high": BLOCKED,
});

/** Why SendGrid dropped a mail by itself. */
const DROPPED: readonly [RegExp, Meaning][] = [
  [/bounced address|spam reporting address/i, ON_PROVIDERS_LIST],
  [/invalid/i, UNKNOWN_MAILBOX],
  [/spam content/i, CONTENT_REFUSED],
];

function meaningOf({ event, type, bounce_classification, reason, status }: Fields): Meaning | null {
  switch (event) {
    case "spamreport":
      return COMPLAINT;
    case "dropped":
      return DROPPED.find(([words]) => words.test(textOf(reason)))?.[1] ?? BLOCKED;
    case "bounce": {
      const classified = CLASSES.get(textOf(bounce_classification).toLowerCase());
      if (classified) return classified;
      if (type === "blocked") return BLOCKED;
      // SendGrid calls a refusal a bounce where it will not try the address again.
      const byStatus = meaningOfStatus(statusCodeOf(status, reason));
      return byStatus.kind === "block" ? UNKNOWN_MAILBOX : byStatus;
    }
    default:
      return null;
  }
}

export function readSendgrid(body: unknown): ProviderEvent[] {
  return listOf(body).flatMap((event) => {
    const fields = fieldsOf(event);
    const meaning = meaningOf(fields);
    if (!meaning) return [];
    const { email: recipient, reason: diagnostic, status } = fields;
    const statusCode = statusCodeOf(status, diagnostic);
    return providerEvent({
      provider: "sendgrid",
      event,
      verdicts: [{ meaning, recipient, statusCode, diagnostic }],
      messageId: fields["smtp-id"],
    });
  });
}
