/** Standard Webhooks: a secret that both sides know, and a signature over id, time and body. */
import { randomBytes } from "node:crypto";
import { hmacSha256 } from "../lib/hmac.ts";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

export const newSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString("base64");

/** The header's value: one `v1` signature per secret, so that a receiver may know either while they are rotated. */
function signature(secrets: readonly string[], id: string, timestamp: number, body: string): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), "base64");
      return `v1,${hmacSha256(key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
    })
    .join(" ");
}

export function signedHeaders(secrets: readonly string[], id: string, body: string, now = new Date()) {
  const timestamp = Math.floor(now.getTime() / 1000);
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signature(secrets, id, timestamp, body),
  };
}
