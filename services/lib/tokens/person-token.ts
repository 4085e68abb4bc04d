/**
 * The credential in the link of a confirmation, a change of address or the preferences page: which company, which
 * subscriber, until when. Anyone who holds it may act for that subscriber, and nobody can make one without the key. Each
 * kind has a key of its own, so that a preferences link never confirms.
 */
import { timingSafeEqual } from "node:crypto";
import { ShortHmac } from "../hmac.ts";
import { uuidOf, writeUuid } from "../ids.ts";
import { keysFor } from "../secrets.ts";

type PersonTokenKind = "confirm" | "preferences" | "address";

interface PersonTokenTarget {
  companyId: string;
  subscriberId: string;
  /** What else it is about: the list of a confirmation that the release before made, the change of an address. */
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

/** By key and length of the body, of which there are two. */
const hmacs = new WeakMap<Buffer, Map<number, ShortHmac>>();

function hmacOf(key: Buffer, bodyBytes: number): ShortHmac {
  const ofKey = hmacs.get(key) ?? new Map<number, ShortHmac>();
  hmacs.set(key, ofKey);
  const known = ofKey.get(bodyBytes) ?? new ShortHmac(key, bodyBytes);
  ofKey.set(bodyBytes, known);
  return known;
}

/** As characters of one byte each, and more of them than are used: each mail has one, and a Buffer takes as long as the hash. */
function digestOf(key: Buffer, body: Buffer): string {
  const hmac = hmacOf(key, body.length);
  body.copy(hmac.text);
  return hmac.digest();
}

const tag = (key: Buffer, body: Buffer): Buffer => Buffer.from(digestOf(key, body).slice(0, TAG_BYTES), "latin1");

/** Without `expiresAt` it is valid for ever: a preferences link in an old mail must still work. */
export function personToken(
  kind: PersonTokenKind,
  companyId: string,
  subscriberId: string,
  expiresAt: Date | null = null,
  subjectId: string | null = null,
): string {
  const bodyBytes = BODY_BYTES + (subjectId ? ID_BYTES : 0);
  const bytes = Buffer.allocUnsafe(bodyBytes + TAG_BYTES);
  writeUuid(bytes, 0, companyId);
  writeUuid(bytes, ID_BYTES, subscriberId);
  bytes.writeUInt32BE(expiresAt ? Math.floor(expiresAt.getTime() / 1000) : 0, 2 * ID_BYTES);
  if (subjectId) writeUuid(bytes, BODY_BYTES, subjectId);
  bytes.write(digestOf(keysFor(kind)[0]!, bytes.subarray(0, bodyBytes)), bodyBytes, TAG_BYTES, "latin1");
  return bytes.toString("base64url");
}

/** Null for a forged or damaged token; an expired one is read, because its answer is another (410). */
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
