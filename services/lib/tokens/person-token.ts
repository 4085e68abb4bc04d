/**
 * Makes the credential in the link of a confirmation, a change of address or the preferences page: company, subscriber
 * and expiry. Its holder may act for that subscriber; making one requires the key. Each kind has its own key, so that a
 * preferences link never confirms.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { uuidBytes, uuidOf } from "../ids.ts";
import { keysFor } from "../secrets.ts";

type PersonTokenKind = "confirm" | "preferences" | "address";

interface PersonTokenTarget {
  companyId: string;
  subscriberId: string;
  /** The change of an address. */
  subjectId?: string;
  expiresAt: Date | null;
  expired: boolean;
}

const ID_BYTES = 16;
const EXPIRY_BYTES = 4;
const BODY_BYTES = 2 * ID_BYTES + EXPIRY_BYTES;
const TAG_BYTES = 16;

const characters = (bytes: number) => Math.ceil((bytes * 4) / 3);
const WITHOUT_SUBJECT = characters(BODY_BYTES + TAG_BYTES);
const WITH_SUBJECT = characters(BODY_BYTES + ID_BYTES + TAG_BYTES);
const TOKEN = new RegExp(`^(?:[A-Za-z0-9_-]{${WITHOUT_SUBJECT}}|[A-Za-z0-9_-]{${WITH_SUBJECT}})$`);

const tag = (key: Buffer, body: Buffer): Buffer =>
  createHmac("sha256", key).update(body).digest().subarray(0, TAG_BYTES);

/** Without `expiresAt` it never expires: a preferences link in an old email must still work. */
export function personToken(
  kind: PersonTokenKind,
  companyId: string,
  subscriberId: string,
  expiresAt: Date | null = null,
  subjectId: string | null = null,
): string {
  const expiry = Buffer.alloc(EXPIRY_BYTES);
  expiry.writeUInt32BE(expiresAt ? Math.floor(expiresAt.getTime() / 1000) : 0);
  const ids = [companyId, subscriberId].map(uuidBytes);
  const body = Buffer.concat([...ids, expiry, ...(subjectId ? [uuidBytes(subjectId)] : [])]);
  return Buffer.concat([body, tag(keysFor(kind)[0]!, body)]).toString("base64url");
}

/** Null for a forged or damaged token; an expired one is returned, because it is answered differently (410). */
export function readPersonToken(kind: PersonTokenKind, token: string, now = Date.now()): PersonTokenTarget | null {
  if (!TOKEN.test(token)) return null;
  const bytes = Buffer.from(token, "base64url");
  // The last character carries bits that decoding drops; only the spelling we made is ours.
  if (bytes.toString("base64url") !== token) return null;
  const body = bytes.subarray(0, -TAG_BYTES);
  const given = bytes.subarray(-TAG_BYTES);
  if (!keysFor(kind).some((key) => timingSafeEqual(tag(key, body), given))) return null;
  const expiresSeconds = body.readUInt32BE(2 * ID_BYTES);
  return {
    companyId: uuidOf(body.subarray(0, ID_BYTES)),
    subscriberId: uuidOf(body.subarray(ID_BYTES, 2 * ID_BYTES)),
    ...(body.length > BODY_BYTES ? { subjectId: uuidOf(body.subarray(BODY_BYTES)) } : {}),
    expiresAt: expiresSeconds > 0 ? new Date(expiresSeconds * 1000) : null,
    expired: expiresSeconds > 0 && expiresSeconds * 1000 <= now,
  };
}
