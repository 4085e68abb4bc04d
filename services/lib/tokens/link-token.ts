/**
 * Makes the credential in the URL of an open pixel or tracked link: mail, link number, and a tag that requires the key.
 * Link 0 is the open pixel, n > 0 the n-th tracked link of the campaign.
 *
 * Tags of one email are slices of SHAKE256(key ‖ mail id ‖ block), a keyed sponge (FIPS 202; unlike SHA-2 it needs no
 * HMAC around it), so that one call serves 16 links.
 *
 * A URL that differs per recipient is included in its token and signed (addressToken), so that nobody can redirect
 * through us to a URL that was not in an email.
 */
import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { uuidBytes, uuidOf } from "../ids.ts";

const TAG_BYTES = 9;
const TAGS_PER_BLOCK = 16;
const ID_BYTES = 16;
const TOKEN_BYTES = ID_BYTES + 2 + TAG_BYTES;

const ADDRESS_TAG_BYTES = 16;
const MAX_TOKEN_LENGTH = 4096;

/** Length of a token without a URL. */
export const TOKEN_LENGTH = (TOKEN_BYTES / 3) * 4;
/** The first characters of a token that are the same for all links of an email, and of no other mail. */
export const MAIL_CHARACTERS = 21;
const TOKEN = /^[A-Za-z0-9_-]{36,}$/;

export interface LinkTarget {
  sentEmailId: string;
  link: number;
  /** Set if the token includes its URL. */
  url?: string;
}

const AS_TEXT = { outputLength: TAG_BYTES * TAGS_PER_BLOCK, outputEncoding: "binary" } as const;

/** The tags of 16 links, a character for each byte. Key, id and number have fixed lengths: no two inputs run into each other. */
const tagBlock = (key: Buffer, id: Buffer, blockNo: number): string =>
  hash("shake256", Buffer.concat([key, id, Buffer.of(blockNo >> 8, blockNo & 0xff)]), AS_TEXT);

const blockOf = (link: number): number => Math.floor(link / TAGS_PER_BLOCK);

function tagIn(block: string, link: number): string {
  const at = (link % TAGS_PER_BLOCK) * TAG_BYTES;
  return block.slice(at, at + TAG_BYTES);
}

/** Overwritten by each token. */
const bytes = Buffer.alloc(TOKEN_BYTES);

/** Tokens of one email by link number; 0 is the pixel. */
export class LinkTokens {
  readonly #key: Buffer;
  readonly #id: Buffer;
  readonly #blocks: string[] = [];

  constructor(key: Buffer, sentEmailId: string) {
    this.#key = key;
    this.#id = uuidBytes(sentEmailId);
  }

  text(link: number): string {
    const blockNo = blockOf(link);
    this.#blocks[blockNo] ??= tagBlock(this.#key, this.#id, blockNo);
    bytes.set(this.#id);
    bytes.write(tagIn(this.#blocks[blockNo], link), bytes.writeUInt16BE(link, ID_BYTES), "latin1");
    return bytes.toString("base64url");
  }
}

const addressTag = (key: Buffer, head: Buffer, url: Buffer) =>
  createHmac("sha256", key).update("address").update(head).update(url).digest().subarray(0, ADDRESS_TAG_BYTES);

/** Token of a link whose URL was made for this email; `link` is the number it is counted by. */
export function addressToken(key: Buffer, sentEmailId: string, link: number, url: string): string {
  const head = Buffer.concat([uuidBytes(sentEmailId), Buffer.of(link >> 8, link & 0xff)]);
  const address = Buffer.from(url);
  return Buffer.concat([head, addressTag(key, head, address), address]).toString("base64url");
}

function readAddress(keys: readonly Buffer[], bytes: Buffer): LinkTarget | null {
  const head = bytes.subarray(0, ID_BYTES + 2);
  const given = bytes.subarray(ID_BYTES + 2, ID_BYTES + 2 + ADDRESS_TAG_BYTES);
  const url = bytes.subarray(ID_BYTES + 2 + ADDRESS_TAG_BYTES);
  if (url.length === 0 || !keys.some((key) => timingSafeEqual(addressTag(key, head, url), given))) return null;
  return { sentEmailId: uuidOf(head.subarray(0, ID_BYTES)), link: head.readUInt16BE(ID_BYTES), url: url.toString() };
}

function hasTag(key: Buffer, bytes: Buffer, link: number): boolean {
  const tag = tagIn(tagBlock(key, bytes.subarray(0, ID_BYTES), blockOf(link)), link);
  return timingSafeEqual(Buffer.from(tag, "latin1"), bytes.subarray(ID_BYTES + 2));
}

/** Decodes the token; null if it is forged or damaged. `keys`: the current key and the previous one. */
export function readLinkToken(keys: readonly Buffer[], token: string): LinkTarget | null {
  if (!TOKEN.test(token) || token.length > MAX_TOKEN_LENGTH) return null;
  const bytes = Buffer.from(token, "base64url");
  if (bytes.length > TOKEN_BYTES) {
    // The last character may carry bits that decoding drops; only the spelling we made is ours.
    return bytes.toString("base64url") === token ? readAddress(keys, bytes) : null;
  }
  if (token.length !== TOKEN_LENGTH) return null;
  const link = bytes.readUInt16BE(ID_BYTES);
  return keys.some((key) => hasTag(key, bytes, link))
    ? { sentEmailId: uuidOf(bytes.subarray(0, ID_BYTES)), link }
    : null;
}
