/**
 * Signs the credential in links of system mail: the id of a row. The row decides whether it is still valid, so a dump
 * of the database contains nothing usable. Each kind has its own key. The mark of a browser is made the same way.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { uuidBytes, uuidOf } from "../ids.ts";
import { type AccountTokenKind, keysFor } from "../secrets.ts";

const ID_BYTES = 16;
// 48 bytes in total: base64 without padding, so each token has exactly one spelling.
const TOKEN = /^[A-Za-z0-9_-]{64}$/;

const tag = (key: Buffer, id: Buffer, boundTo: string) => createHmac("sha256", key).update(id).update(boundTo).digest();

/** `boundTo`: valid only together with this value, which the token does not contain. */
export function accountToken(kind: AccountTokenKind, id: string, boundTo = ""): string {
  const bytes = uuidBytes(id);
  return Buffer.concat([bytes, tag(keysFor(kind)[0]!, bytes, boundTo)]).toString("base64url");
}

/** The id, or null if it was not made by `accountToken` of this kind. */
export function readAccountToken(kind: AccountTokenKind, token: string, boundTo = ""): string | null {
  if (!TOKEN.test(token)) return null;
  const bytes = Buffer.from(token, "base64url");
  const id = bytes.subarray(0, ID_BYTES);
  const given = bytes.subarray(ID_BYTES);
  return keysFor(kind).some((key) => timingSafeEqual(tag(key, id, boundTo), given)) ? uuidOf(id) : null;
}
