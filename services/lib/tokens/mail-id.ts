/**
 * Computes the id of an email from its campaign's number and its own, so that rows need no column and no index for it. 58
 * of its 122 free bits are a tag of the two numbers, which requires the key, and 64 are the numbers themselves, masked
 * by what the key makes of the tag (the order of SIV, RFC 5297: the tag is also the nonce). The same numbers always
 * give the same id, and foreign ids are rejected. It is a UUID of version 8 (RFC 9562 section 5.8).
 *
 * The part of a Message-ID before the "@" is the id enciphered with another key: many people see it, and it opens no
 * page.
 *
 * Ids are made and read for many emails at once. A cipher is created once per key, because creating it is far slower
 * than using it.
 */
import { type Cipheriv, createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { isUuid, uuidOf } from "../ids.ts";

const BLOCK = 16;
const CIPHER = "aes-128-ecb";

export interface MailNumber {
  campaign_no: number;
  seq: number;
}

/** Whole blocks in, whole blocks out at once: in this mode blocks are independent. */
const cipherOf = (key: Buffer): Cipheriv => createCipheriv(CIPHER, key, null).setAutoPadding(false);

/** Bytes 0 to 7 of `tag` and `numbers` at this offset become the id's 16 bytes at the same offset of `ids`. */
function join(ids: Buffer, at: number, tag: Buffer, masked: Buffer): void {
  ids[at] = masked[at]!;
  for (let i = 1; i < 6; i++) ids[at + i] = tag[at + i]!;
  ids[at + 6] = 0x80 | (tag[at + 6]! & 0x0f);
  ids[at + 7] = tag[at + 7]!;
  ids[at + 8] = 0x80 | (tag[at]! & 0x3f);
  for (let i = 1; i < 8; i++) ids[at + 8 + i] = masked[at + i]!;
}

/** Keeps only those bits of the tag's first 8 bytes that an id contains. */
function trim(tags: Buffer): Buffer {
  for (let at = 0; at < tags.length; at += BLOCK) {
    tags[at]! &= 0x3f;
    tags[at + 6]! &= 0x0f;
    tags.fill(0, at + 8, at + BLOCK);
  }
  return tags;
}

export class MailIds {
  readonly #tag: Cipheriv;
  readonly #mask: Cipheriv;
  readonly #message: Cipheriv;
  readonly #messageKey: Buffer;

  /** `key`: the installation's 32-byte key. */
  constructor(key: Buffer) {
    const derived = (purpose: string) => Buffer.from(hkdfSync("sha256", key, "flockmail", purpose, BLOCK));
    this.#tag = cipherOf(derived("mail id: tag"));
    this.#mask = cipherOf(derived("mail id: mask"));
    this.#messageKey = derived("message id");
    this.#message = cipherOf(this.#messageKey);
  }

  of(mails: readonly MailNumber[]): string[] {
    const numbers = Buffer.alloc(mails.length * BLOCK);
    for (const [n, { campaign_no, seq }] of mails.entries()) {
      numbers.writeInt32BE(campaign_no, n * BLOCK);
      numbers.writeInt32BE(seq, n * BLOCK + 4);
    }
    const tags = trim(this.#tag.update(numbers));
    const masks = this.#mask.update(tags);
    for (let i = 0; i < masks.length; i++) masks[i]! ^= numbers[i]!;
    const ids = Buffer.allocUnsafe(numbers.length);
    for (let at = 0; at < ids.length; at += BLOCK) join(ids, at, tags, masks);
    return mails.map((_, n) => uuidOf(ids.subarray(n * BLOCK, (n + 1) * BLOCK)));
  }

  /** Returns the mails in the order of the ids; null for an id that was not computed here. */
  readAll(ids: readonly string[]): (MailNumber | null)[] {
    const bytes = Buffer.alloc(ids.length * BLOCK);
    for (const [n, id] of ids.entries()) if (isUuid(id)) bytes.write(id.replaceAll("-", ""), n * BLOCK, "hex");
    const tags = Buffer.alloc(bytes.length);
    for (let at = 0; at < bytes.length; at += BLOCK) {
      bytes.copy(tags, at + 1, at + 1, at + 8);
      tags[at] = bytes[at + 8]!;
    }
    const masks = this.#mask.update(trim(tags));
    const numbers = Buffer.alloc(bytes.length);
    for (let at = 0; at < bytes.length; at += BLOCK) {
      numbers[at] = bytes[at]! ^ masks[at]!;
      for (let i = 1; i < 8; i++) numbers[at + i] = bytes[at + 8 + i]! ^ masks[at + i]!;
    }
    // An id is ours if its numbers give this tag. Ids with other version and variant bits are not.
    const ours = trim(this.#tag.update(numbers));
    return ids.map((_, n) => {
      const at = n * BLOCK;
      const isOurs =
        bytes[at + 6]! >> 4 === 8 &&
        bytes[at + 8]! >> 6 === 2 &&
        ours.compare(tags, at, at + BLOCK, at, at + BLOCK) === 0;
      return isOurs ? { campaign_no: numbers.readInt32BE(at), seq: numbers.readInt32BE(at + 4) } : null;
    });
  }

  read(id: string): MailNumber | null {
    return this.readAll([id])[0]!;
  }

  /** Parts of Message-IDs before the "@". */
  messageIds(ids: readonly string[]): string[] {
    const blocks = this.#message.update(Buffer.from(ids.join("").replaceAll("-", ""), "hex"));
    return ids.map((_, n) => blocks.subarray(n * BLOCK, (n + 1) * BLOCK).toString("base64url"));
  }

  /** The id behind a Message-ID; null if it cannot be ours. It proves nothing: the caller must look for the email. */
  readMessageId(opaque: string): string | null {
    const block = Buffer.from(opaque, "base64url");
    if (block.length !== BLOCK || block.toString("base64url") !== opaque) return null;
    const id = uuidOf(createDecipheriv(CIPHER, this.#messageKey, null).setAutoPadding(false).update(block));
    return this.read(id) ? id : null;
  }
}
