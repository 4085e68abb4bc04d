/**
 * The credential in an open pixel's or a tracked link's URL: which mail, which link, and a tag that nobody can make
 * without the key. Link 0 is the open pixel, n > 0 the n-th tracked link of the campaign.
 *
 * Tags of one mail are slices of HMAC-SHA-512(key, mail id ‖ block): one call serves eight links, so that a mail with
 * 15 links costs two HMACs and not sixteen (1.7 µs each). All tokens of a mail begin with the same 22 characters.
 *
 * An address that differs per recipient travels within its token, signed with it (addressToken): nobody can redirect
 * through us to an address that was not in a mail.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";

const TAG_BYTES = 8;
const TAGS_PER_BLOCK = 64 / TAG_BYTES;
const ID_BYTES = 16;

const ADDRESS_TAG_BYTES = 16;
const MAX_TOKEN_LENGTH = 4096;

const TOKEN = /^[A-Za-z0-9_-]{35,}$/;

export interface LinkTarget {
  sentEmailId: string;
  link: number;
  /** Set where the token carries its address. */
  url?: string;
}

const idBytes = (uuid: string) => Buffer.from(uuid.replaceAll("-", ""), "hex");

// Taking a key in from a Buffer costs more than the HMAC itself.
const keyObjects = new WeakMap<Buffer, KeyObject>();

function keyObject(key: Buffer): KeyObject {
  const known = keyObjects.get(key) ?? createSecretKey(key);
  keyObjects.set(key, known);
  return known;
}

function block(key: Buffer, id: Buffer, no: number): Buffer {
  const message = Buffer.allocUnsafe(ID_BYTES + 2);
  id.copy(message);
  message.writeUInt16BE(no, ID_BYTES);
  return createHmac("sha512", keyObject(key)).update(message).digest();
}

function tag(blockBytes: Buffer, link: number): Buffer {
  const at = (link % TAGS_PER_BLOCK) * TAG_BYTES;
  return blockBytes.subarray(at, at + TAG_BYTES);
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
/** A link below this changes only the last two of the 24 characters that stand for id and link. */
const LINKS_OF_PREFIX = 64 * 64;

/** Tokens of one mail, for links 0 to `links` (0 is the pixel). */
export function linkTokens(key: Buffer, sentEmailId: string, links: number): string[] {
  const id = idBytes(sentEmailId);
  const head = Buffer.allocUnsafe(ID_BYTES + 2);
  id.copy(head);
  const tokens: string[] = [];
  let prefix = "";
  let current: Buffer = head;
  for (let link = 0; link <= links; link++) {
    const inBlock = link % TAGS_PER_BLOCK;
    if (inBlock === 0) current = block(key, id, link / TAGS_PER_BLOCK);
    if (link % LINKS_OF_PREFIX === 0) {
      head.writeUInt16BE(link, ID_BYTES);
      prefix = head.toString("base64url").slice(0, 22);
    }
    const number = ALPHABET[(link >> 6) & 63]! + ALPHABET[link & 63]!;
    const at = inBlock * TAG_BYTES;
    tokens.push(prefix + number + current.toString("base64url", at, at + TAG_BYTES));
  }
  return tokens;
}

const addressTag = (key: Buffer, head: Buffer, url: Buffer) =>
  createHmac("sha256", key).update("address").update(head).update(url).digest().subarray(0, ADDRESS_TAG_BYTES);

/** Token of a link whose address was made for this mail; `link` is the number it is counted by. */
export function addressToken(key: Buffer, sentEmailId: string, link: number, url: string): string {
  const head = Buffer.concat([idBytes(sentEmailId), Buffer.of(link >> 8, link & 0xff)]);
  const address = Buffer.from(url);
  return Buffer.concat([head, addressTag(key, head, address), address]).toString("base64url");
}

function uuidOf(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function readAddress(keys: readonly Buffer[], bytes: Buffer): LinkTarget | null {
  const head = bytes.subarray(0, ID_BYTES + 2);
  const given = bytes.subarray(ID_BYTES + 2, ID_BYTES + 2 + ADDRESS_TAG_BYTES);
  const url = bytes.subarray(ID_BYTES + 2 + ADDRESS_TAG_BYTES);
  if (url.length === 0 || !keys.some((key) => timingSafeEqual(addressTag(key, head, url), given))) return null;
  return { sentEmailId: uuidOf(head.subarray(0, ID_BYTES)), link: head.readUInt16BE(ID_BYTES), url: url.toString() };
}

/** What the token stands for, or null for a forged or damaged one. `keys`: the current key and the one before it. */
export function readLinkToken(keys: readonly Buffer[], token: string): LinkTarget | null {
  if (!TOKEN.test(token) || token.length > MAX_TOKEN_LENGTH) return null;
  const bytes = Buffer.from(token, "base64url");
  // The last character carries bits that decoding drops; only the spelling we made is ours.
  if (bytes.toString("base64url") !== token) return null;
  if (bytes.length > ID_BYTES + 2 + TAG_BYTES) return readAddress(keys, bytes);
  const id = bytes.subarray(0, ID_BYTES);
  const link = bytes.readUInt16BE(ID_BYTES);
  const given = bytes.subarray(ID_BYTES + 2);
  const no = Math.floor(link / TAGS_PER_BLOCK);
  if (!keys.some((key) => timingSafeEqual(tag(block(key, id, no), link), given))) return null;
  return { sentEmailId: uuidOf(id), link };
}
