/**
 * The credential in the links of system mail: the id of a row, signed. Whether it is still good the row says; a dump of the
 * database holds nothing that could be used. Each kind has a key of its own. The mark of a browser is made the same way.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { uuidBytes, uuidOf } from "../ids.ts";
import { type AccountTokenKind, keysFor } from "../secrets.ts";

const ID_BYTES = 16;
// 48 bytes in all: no padding, and every spelling is the only one of its bytes.
const TOKEN = /^[A-Za-z0-9_-]{64}$/;

const tag = (key: Buffer, id: Buffer, boundTo: string) => createHmac("sha256", key).update(id).update(boundTo).digest();

/** `boundTo`: good only together with this, which it does not hold. */
export function accountToken(kind: AccountTokenKind, id: string, boundTo = ""): string {
  const bytes = uuidBytes(id);
  return Buffer.concat([bytes, tag(keysFor(kind)[0]!, bytes, boundTo)]).toString("base64url");
}

/** The id, or null for what was not made by `accountToken` of this kind. */
export function readAccountToken(kind: AccountTokenKind, token: string, boundTo = ""): string | null {
  if (!TOKEN.test(token)) return null;
  const bytes = Buffer.from(token, "base64url");
  const id = bytes.subarray(0, ID_BYTES);
  const given = bytes.subarray(ID_BYTES);
  return keysFor(kind).some((key) => timingSafeEqual(tag(key, id, boundTo), given)) ? uuidOf(id) : null;
}
