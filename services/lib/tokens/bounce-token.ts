/**
 * The token in an email's envelope sender, `{local}+{token}@{domain}` (VERP): identifies the mail that a bounce is
 * about. It is one AES block of campaign number, recipient number, a flag for copies (cc, bcc) and 63 zero bits,
 * encrypted with a separate key: a made-up token is accepted with a probability of 2^-63, and a token reveals nothing.
 *
 * Encoded as 26 characters of base32 without padding, because servers may change the case of letters.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { asciiDomain } from "../address.ts";
import type { MailNumber } from "./mail-id.ts";

const BLOCK = 16;
const CIPHER = "aes-128-ecb";
export const BOUNCE_TOKEN_LENGTH = 26;
const TOKEN = /^[a-z2-7]{26}$/;
const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";
/** RFC 5321 section 4.5.3.1: octets of a local part, and of an address in the envelope. */
const MAX_LOCAL = 64;
const MAX_ADDRESS = 254;

interface BouncedMail extends MailNumber {
  /** The bounce is about one of the email's copies; which of them, its report says. */
  copy: boolean;
}

function base32(bytes: Buffer): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(value >> (bits - 5)) & 31];
  }
  return text + ALPHABET[(value << (5 - bits)) & 31];
}

/** Null for a spelling that was not made here: the last character has two bits that say nothing. */
function fromBase32(text: string): Buffer | null {
  const bytes = Buffer.alloc(BLOCK);
  let bits = 0;
  let value = 0;
  let at = 0;
  for (const character of text) {
    value = ((value << 5) | ALPHABET.indexOf(character)) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (value >> bits) & 0xff;
    }
  }
  return (value & ((1 << bits) - 1)) === 0 ? bytes : null;
}

export class BounceTokens {
  readonly #key: Buffer;

  /** `key`: the installation's, of 32 bytes. */
  constructor(key: Buffer) {
    this.#key = Buffer.from(hkdfSync("sha256", key, "flockmail", "bounce token", BLOCK));
  }

  of({ campaign_no, seq }: MailNumber, copy = false): string {
    const block = Buffer.alloc(BLOCK);
    block.writeInt32BE(campaign_no, 0);
    block.writeInt32BE(seq, 4);
    block[8] = copy ? 1 : 0;
    return base32(createCipheriv(CIPHER, this.#key, null).setAutoPadding(false).update(block));
  }

  /** Null for a token that was not made here. */
  read(token: string): BouncedMail | null {
    const lower = token.toLowerCase();
    const block = TOKEN.test(lower) ? fromBase32(lower) : null;
    if (!block) return null;
    const plain = createDecipheriv(CIPHER, this.#key, null).setAutoPadding(false).update(block);
    if (plain[8]! > 1 || plain.subarray(9).some((byte) => byte !== 0)) return null;
    return { campaign_no: plain.readInt32BE(0), seq: plain.readInt32BE(4), copy: plain[8] === 1 };
  }
}

/** Envelope sender of an email with this token. */
export function tokenAddress(bounceAddress: string, token: string): string {
  const at = bounceAddress.lastIndexOf("@");
  return `${bounceAddress.slice(0, at)}+${token}${bounceAddress.slice(at)}`;
}

/** An address taken apart: `bounces+abc…@b.example` is the token abc… of `bounces@b.example`. Null: it carries none. */
export function tokenOf(address: string): { bounceAddress: string; token: string } | null {
  const at = address.lastIndexOf("@");
  const plus = address.lastIndexOf("+", at);
  if (plus < 1 || at - plus - 1 !== BOUNCE_TOKEN_LENGTH) return null;
  const token = address.slice(plus + 1, at).toLowerCase();
  return TOKEN.test(token) ? { bounceAddress: address.slice(0, plus) + address.slice(at), token } : null;
}

/** Error of a bounce address to which tokens are added; undefined if valid. */
export function bounceAddressError(address: string): string | undefined {
  const at = address.lastIndexOf("@");
  const ofLocal = Buffer.byteLength(address.slice(0, at)) + 1 + BOUNCE_TOKEN_LENGTH;
  const octets = ofLocal + 1 + Buffer.byteLength(asciiDomain(address.slice(at + 1)) ?? address.slice(at + 1));
  if (ofLocal > MAX_LOCAL) {
    return `The part before the @ may have at most ${MAX_LOCAL - 1 - BOUNCE_TOKEN_LENGTH} octets: each mail's token is added to it.`;
  }
  if (octets > MAX_ADDRESS)
    return `At most ${MAX_ADDRESS - 1 - BOUNCE_TOKEN_LENGTH} octets: each mail's token is added to it.`;
  return undefined;
}
