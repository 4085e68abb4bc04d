import { randomBytes } from "node:crypto";

/**
 * Makes UUIDv7 ids (RFC 9562 section 5.7): ordered by time, 74 random bits. The SQL equivalent is uuid_v7() in
 * models/schema.sql.
 */
export const newId = (): string => newIdAt(Date.now());

/** A UUIDv7 for a given time, in milliseconds since 1970. */
export function newIdAt(ms: number): string {
  const id = randomBytes(16);
  id.writeUIntBE(ms, 0, 6);
  id[6] = (id[6]! & 0x0f) | 0x70;
  id[8] = (id[8]! & 0x3f) | 0x80;
  return uuidOf(id);
}

/** The random last 16 digits of an id, as "8a3c-0123456789ab", for ids whose time and order are set elsewhere. */
export const newIdTail = (): string => newId().slice(-17);

/** A UUID's 16 bytes, and its text. */
export const uuidBytes = (uuid: string): Buffer =>
  Buffer.from(uuid.slice(0, 8) + uuid.slice(9, 13) + uuid.slice(14, 18) + uuid.slice(19, 23) + uuid.slice(24), "hex");

export function uuidOf(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Creation time of a UUIDv7, in milliseconds since 1970. */
export const idTime = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** Lower bound of all ids made at this time or later. */
export function firstIdAt(ms: number): string {
  const hex = Math.max(0, ms).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (value: unknown): value is string => typeof value === "string" && UUID.test(value);
