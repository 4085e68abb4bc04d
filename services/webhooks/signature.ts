/** Standard Webhooks: a secret that both sides know, and a signature over id, time and body. */
import { createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

export const newSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString("base64");

/** What signs: made once for a secret, which takes as long as a signature does. */
export const signingKey = (secret: string): KeyObject =>
  createSecretKey(Buffer.from(secret.slice(PREFIX.length), "base64"));

/** The header's value: one `v1` signature per key, so that a receiver may know either secret while they are rotated. */
const signature = (keys: readonly KeyObject[], signed: string): string =>
  keys.map((key) => `v1,${createHmac("sha256", key).update(signed).digest("base64")}`).join(" ");

export function signedHeaders(keys: readonly KeyObject[], id: string, body: string, now = new Date()) {
  const timestamp = Math.floor(now.getTime() / 1000);
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signature(keys, `${id}.${timestamp}.${body}`),
  };
}
