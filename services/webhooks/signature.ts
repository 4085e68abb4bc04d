/** Signatures by the Standard Webhooks specification: HMAC-SHA-256 over id, time and body with a shared secret. */
import { createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

export const newSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString("base64");

/** Creates the signing key of a secret. */
export const signingKey = (secret: string): KeyObject =>
  createSecretKey(Buffer.from(secret.slice(PREFIX.length), "base64"));

/** Value of the header: one `v1` signature per key. During rotation a receiver may know either secret. */
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
