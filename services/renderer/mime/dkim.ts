/**
 * Signs with DKIM (RFC 6376, Ed25519 by RFC 8463), relaxed/simple, over the bytes that are sent. Signing is
 * asynchronous, on the thread pool instead of the event loop. Two signatures share the body hash and the canonical
 * fields.
 *
 * The body uses "simple". Relaxed would tolerate relays that change white space, which quoted-printable and base64 do
 * not contain, and its canonicalization costs more CPU than everything else about an email.
 */
import { createHash, createPrivateKey, type KeyObject, sign } from "node:crypto";
import { promisify } from "node:util";
import { type Dkim, Unrenderable } from "../content.ts";

/** Returns the head with its signatures; `body` is the message between the headers and the tail. Both are latin1 characters. */
export type Sign = (head: string, body: string) => Promise<string>;

/**
 * List-Unsubscribe and List-Unsubscribe-Post must be covered, else providers hide the button (RFC 8058 section 4).
 */
const COVERED = new Set([
  "from",
  "reply-to",
  "to",
  "cc",
  "subject",
  "date",
  "message-id",
  "list-unsubscribe",
  "list-unsubscribe-post",
  "list-id",
  "feedback-id",
  "mime-version",
  "content-type",
]);

/**
 * Oversigned fields, listed once more than they occur (Cc even if absent): adding one on the way, which an email client
 * might show instead of ours, breaks the signature (RFC 6376 section 8.15).
 */
const OVERSIGNED = [
  "from",
  "to",
  "cc",
  "subject",
  "date",
  "reply-to",
  "list-unsubscribe",
  "list-unsubscribe-post",
  "content-type",
];

const signAsync = promisify(sign) as (algorithm: string | null, data: Buffer, key: KeyObject) => Promise<Buffer>;

/** Relaxed header field (section 3.4.2), without its CRLF. */
function relaxedField(field: string): string {
  const colon = field.indexOf(":");
  const value = field
    .slice(colon + 1)
    .replace(/\r\n(?=[ \t])/g, "")
    .replace(/[ \t]+/g, " ")
    .trim();
  return `${field.slice(0, colon).trim().toLowerCase()}:${value}`;
}

const fieldsOf = (head: string) => head.trimEnd().split(/\r\n(?![ \t])/);
const nameOf = (field: string) => field.slice(0, field.indexOf(":")).trim().toLowerCase();
const folded = (text: string) => text.match(/.{1,72}/g)!.join("\r\n ");

function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Unrenderable("The DKIM key of the SMTP configuration cannot be read.");
  }
}

interface Signatory {
  key: KeyObject;
  isEd25519: boolean;
  /** Tags of the signature up to the time. */
  tags: string;
}

function signatoryOf({ domain, selector, privateKey }: Dkim): Signatory {
  const key = readKey(privateKey);
  const isEd25519 = key.asymmetricKeyType === "ed25519";
  const algorithm = isEd25519 ? "ed25519-sha256" : "rsa-sha256";
  const tags = `DKIM-Signature: v=1; a=${algorithm}; c=relaxed/simple; d=${domain};\r\n s=${selector}; t=`;
  return { key, isEd25519, tags };
}

async function signatureOf({ key, isEd25519, tags }: Signatory, covered: string, rest: string): Promise<string> {
  const start = tags + rest;
  const signed = Buffer.from(covered + relaxedField(start), "latin1");
  // RFC 8463 signs the SHA-256 of the fields, not the fields themselves.
  const data = isEd25519 ? createHash("sha256").update(signed).digest() : signed;
  const signature = await signAsync(isEd25519 ? null : "sha256", data, key);
  return `${start}${folded(signature.toString("base64"))}\r\n`;
}

/** Signs with each key; the RSA signature, which all verifiers support, comes first. No signature covers another. */
export function signer(keys: readonly Dkim[], tail: string | null): Sign {
  const signatories = keys.map(signatoryOf).sort((a, b) => Number(a.isEd25519) - Number(b.isEd25519));
  const tailBytes = tail ? Buffer.from(tail, "latin1") : null;

  return async (head, body) => {
    const hash = createHash("sha256").update(body, "latin1");
    if (tailBytes) hash.update(tailBytes);
    const fields = fieldsOf(head).filter((field) => COVERED.has(nameOf(field)));
    const names = [...fields.map(nameOf), ...OVERSIGNED].join(":");
    const foldedNames = names.replace(/(.{1,60})(?::|$)/g, "$1:\r\n ").replace(/:\s*$/, "");
    const covered = `${fields.map(relaxedField).join("\r\n")}\r\n`;
    const seconds = Math.floor(Date.now() / 1000);
    const rest = `${seconds};\r\n bh=${hash.digest("base64")};\r\n h=${foldedNames};\r\n b=`;
    const signatures = await Promise.all(signatories.map((one) => signatureOf(one, covered, rest)));
    return signatures.join("") + head;
  };
}
