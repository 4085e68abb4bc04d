import { randomFillSync } from "node:crypto";

// One call of the generator fills many ids: randomFillSync costs about 1 µs however few bytes it fills.
const pool = Buffer.alloc(16 * 256);
let used = pool.length;

/** UUIDv7 (RFC 9562 section 5.7): ordered by time, 74 random bits. The SQL twin is uuid_v7() in models/schema.sql. */
export const newId = (): string => newIdAt(Date.now());

/** The same with a time that is given, in milliseconds since 1970. */
export function newIdAt(ms: number): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const id = pool.subarray(used, used + 16);
  used += 16;
  id.writeUIntBE(ms, 0, 6);
  id[6] = (id[6]! & 0x0f) | 0x70;
  id[8] = (id[8]! & 0x3f) | 0x80;
  return uuidOf(id);
}

const TAIL_BYTES = 8;
const tailBytes = Buffer.alloc(TAIL_BYTES * 512);
let tails = "";
let tailsUsed = 0;

/** The last 16 digits of an id, as "8a3c-0123456789ab": what is random of one whose time and order are made elsewhere. */
export function newIdTail(): string {
  if (tailsUsed === tails.length) {
    randomFillSync(tailBytes);
    for (let at = 0; at < tailBytes.length; at += TAIL_BYTES) tailBytes[at] = (tailBytes[at]! & 0x3f) | 0x80;
    tails = tailBytes.toString("hex");
    tailsUsed = 0;
  }
  const at = tailsUsed;
  tailsUsed += 2 * TAIL_BYTES;
  return `${tails.slice(at, at + 4)}-${tails.slice(at + 4, at + 16)}`;
}

const NO_DIGIT = 255;
/** By the code of the character. */
const HEX_DIGITS = Uint8Array.from({ length: 128 }, (_, code) => {
  const digit = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(digit) ? NO_DIGIT : digit;
});
const DASH = 45;
const DIGITS = 32;

/** The 16 bytes of a UUID. A loop: a text without the dashes, to be read by the library, took four times as long. */
export function writeUuid(memory: Buffer, at: number, id: string): void {
  let digits = 0;
  for (let i = 0; i < id.length; i++) {
    const code = id.charCodeAt(i);
    if (code === DASH) continue;
    const digit = code < HEX_DIGITS.length ? HEX_DIGITS[code]! : NO_DIGIT;
    if (digit === NO_DIGIT || digits === DIGITS) throw new Error("Not an id.");
    const byte = at + (digits >> 1);
    memory[byte] = digits % 2 === 0 ? digit << 4 : memory[byte]! | digit;
    digits++;
  }
  // Else the rest would be what the memory had before.
  if (digits < DIGITS) throw new Error("Not an id.");
}

/** A UUID's 16 bytes, and its text. */
export const uuidBytes = (uuid: string): Buffer => Buffer.from(uuid.replaceAll("-", ""), "hex");

export function uuidOf(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** When a UUIDv7 was made, in milliseconds since 1970. */
export const idTime = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** Below every id that was made at this moment or later. */
export function firstIdAt(ms: number): string {
  const hex = Math.max(0, ms).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (value: unknown): value is string => typeof value === "string" && UUID.test(value);
