/** Verifies a webhook's signature by Standard Webhooks with the endpoint's secret. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { WebhookEvent } from "./generated.ts";

export class SignatureError extends Error {}

/** Rejects older events and ones from the future: they may be replayed. */
const TOLERANCE_SECONDS = 5 * 60;

type Headers = Record<string, string | string[] | undefined>;

function isSigned(secret: string, message: string, header: string): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(message).digest();
  return header.split(" ").some((one) => {
    const [version, value = ""] = one.split(",");
    const given = Buffer.from(value, "base64");
    return version === "v1" && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/**
 * Returns the event or throws a SignatureError. `headers` have lower-case names, as in Node; `body` must be the
 * original bytes, not parsed and serialised again.
 */
export function verifyWebhook(secret: string, headers: Headers, body: string, now = new Date()): WebhookEvent {
  const [id, timestamp, signature] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    String(headers[name] ?? ""),
  ) as [string, string, string];
  const age = Math.abs(now.getTime() / 1_000 - Number(timestamp));
  if (!(age <= TOLERANCE_SECONDS)) throw new SignatureError("The webhook's time is not now.");
  if (!isSigned(secret, `${id}.${timestamp}.${body}`, signature)) throw new SignatureError("The signature is wrong.");
  return JSON.parse(body) as WebhookEvent;
}
