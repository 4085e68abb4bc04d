/**
 * Reads Mailgun's webhooks, one event per request. Reference: documentation.mailgun.com, user manual, "Events",
 * "Webhooks" and "Securing Webhooks".
 */
import { createHmac } from "node:crypto";
import { isRecent, isSameSecret, type ProviderRequest } from "./credentials.ts";
import {
  type Fields,
  fieldsOf,
  type ProviderEvent,
  providerEvent,
  statusCodeOf,
  textOf,
  type Word,
  wordTable,
} from "./event.ts";

/** Mailgun retries for 8 hours; an older request is a replay. */
const MAILGUN_MAX_AGE_SECONDS = 9 * 3_600;

/**
 * Returns the token that was signed, or null if the signature is wrong. The signature covers only time and token: it
 * could be reused with another body, so the caller must accept each token with one body only.
 */
export function mailgunToken({ body }: ProviderRequest, secret: string, now = Date.now()): string | null {
  let signed: Fields;
  try {
    signed = fieldsOf(fieldsOf(JSON.parse(body)).signature);
  } catch {
    return null;
  }
  const [timestamp, token, signature] = [signed.timestamp, signed.token, signed.signature].map(textOf);
  if (!token || token.length > 256 || !isRecent(timestamp!, MAILGUN_MAX_AGE_SECONDS, now)) return null;
  const expected = createHmac("sha256", secret)
    .update(timestamp! + token)
    .digest("hex");
  return isSameSecret(signature!.toLowerCase(), expected) ? token : null;
}

/** Mailgun did not send the message: the address is on one of its suppression lists. */
const SUPPRESSED = wordTable({
  "suppress-bounce": "on-providers-list",
  "suppress-complaint": "on-providers-list",
  "suppress-unsubscribe": "blocked",
});

function wordOf(data: Fields, statusCode: string | null): Word | null {
  if (data.event === "complained") return "complaint";
  // Mailgun retries temporary failures.
  if (data.event !== "failed" || data.severity !== "permanent") return null;
  const reason = textOf(data.reason);
  const onList = SUPPRESSED.get(reason);
  if (onList) return onList;
  const code = Number(fieldsOf(data["delivery-status"]).code);
  // 605: "Not delivering to previously bounced address".
  if (code === 605) return "on-providers-list";
  const isOfAddress = reason === "bounce" && (code === 550 || code === 551 || code === 553);
  return isOfAddress && !statusCode ? "mailbox-unknown" : "unknown-reason";
}

export function readMailgun(body: unknown): ProviderEvent[] {
  const data = fieldsOf(fieldsOf(body)["event-data"]);
  const status = fieldsOf(data["delivery-status"]);
  const diagnostic = [status.message, status.description].map(textOf).find((text) => text.trim() !== "");
  const statusCode = statusCodeOf(status["enhanced-code"], status.message, status.description);
  const word = wordOf(data, statusCode);
  if (!word) return [];
  const message = fieldsOf(data.message);
  return providerEvent({
    provider: "mailgun",
    event: data,
    verdicts: [{ word, recipient: data.recipient, statusCode, replyCode: status.code, diagnostic }],
    messageId: fieldsOf(message.headers)["message-id"],
    sentFrom: fieldsOf(data.envelope).sender,
  });
}
