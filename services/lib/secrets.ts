/**
 * Derives one key per purpose from SECRET_KEY, so that no key can be used in place of another. While SECRET_KEY_OLD is
 * set, data it sealed or signed is still accepted.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Config, config } from "./config.ts";

/** Purposes of links in system mail, and of the mark of a browser that was logged in (tokens/account-token.ts). */
export type AccountTokenKind = "verify" | "reset" | "sign_in" | "invitation" | "device";

type Purpose =
  | "seal"
  | "bearer"
  | "link"
  | "confirm"
  | "preferences"
  | "address"
  | "console"
  | "form"
  | AccountTokenKind;

const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_BYTES = 4;

const generatedFile = (directory: string): string => join(directory, "secret.key");

/** True if a secret is set or was generated; for callers that must not generate one. */
export const hasSecret = ({ SECRET_KEY, DATABASE_URL, DATA_DIR }: Config): boolean =>
  SECRET_KEY !== undefined || (DATABASE_URL === undefined && existsSync(generatedFile(DATA_DIR)));

/** Generated once and stored with the embedded database, readable only by its owner. */
function generatedSecret(directory: string): string {
  const file = generatedFile(directory);
  mkdirSync(directory, { recursive: true });
  try {
    writeFileSync(file, randomBytes(32).toString("hex"), { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return readFileSync(file, "utf8").trim();
}

let secrets: string[] | undefined;

/** The current secret, then the previous one. */
function allSecrets(): string[] {
  const { SECRET_KEY, SECRET_KEY_OLD, DATA_DIR } = config();
  secrets ??= [SECRET_KEY ?? generatedSecret(DATA_DIR), ...(SECRET_KEY_OLD ? [SECRET_KEY_OLD] : [])];
  return secrets;
}

const derived = new Map<string, Buffer[]>();

/** 32-byte keys for a purpose: the current one (to sign and seal with) first. */
export function keysFor(purpose: Purpose): Buffer[] {
  let keys = derived.get(purpose);
  if (!keys) {
    keys = allSecrets().map((secret) => Buffer.from(hkdfSync("sha256", secret, "flockmail", purpose, 32)));
    derived.set(purpose, keys);
  }
  return keys;
}

const keyId = (key: Buffer) => createHash("sha256").update(key).digest().subarray(0, KEY_ID_BYTES);

/** The first bytes of the envelopes that this process can open. */
export const openableKeyIds = (): Buffer[] => keysFor("seal").map(keyId);

/**
 * AES-256-GCM. Envelope: key id (4), IV (12), tag (16), ciphertext. `context` (an id) must be the same to open it.
 */
export function seal(plain: string, context: string): Buffer {
  const key = keysFor("seal")[0]!;
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(context));
  const sealed = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()]);
  return Buffer.concat([keyId(key), iv, cipher.getAuthTag(), sealed]);
}

/** False if the previous key sealed it: it must be resealed before SECRET_KEY_OLD is removed. */
export const isSealedNow = (envelope: Buffer): boolean =>
  envelope.subarray(0, KEY_ID_BYTES).equals(keyId(keysFor("seal")[0]!));

/** Throws if no key of this process fits, or the envelope was altered or has another context. */
export function unseal(envelope: Buffer, context: string): string {
  const id = envelope.subarray(0, KEY_ID_BYTES);
  const key = keysFor("seal").find((candidate) => keyId(candidate).equals(id));
  if (!key) throw new Error("Sealed with a SECRET_KEY that this process does not have");
  const iv = envelope.subarray(KEY_ID_BYTES, KEY_ID_BYTES + IV_BYTES);
  const tag = envelope.subarray(KEY_ID_BYTES + IV_BYTES, KEY_ID_BYTES + IV_BYTES + TAG_BYTES);
  const decipher = createDecipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(context)).setAuthTag(tag);
  return (
    decipher.update(envelope.subarray(KEY_ID_BYTES + IV_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8")
  );
}
