/** Builds the TXT record that publishes a DKIM key (RFC 6376 section 3.6.1, RFC 8463 section 4). */
import { createPrivateKey, createPublicKey } from "node:crypto";
import type { DkimAlgorithm } from "../../../models/dkim-key.ts";

/** RFC 8463 uses the raw 32 bytes; RSA keys are written as SubjectPublicKeyInfo. */
const RAW_ED25519 = 32;
/** RFC 1035 section 3.3: the longest string of a TXT record. */
export const MAX_STRING = 255;

export interface PublicKey {
  type: DkimAlgorithm;
  base64: string;
}

/** `value` is one text of any length: verifiers join the strings of a TXT record. */
export type TxtRecord = { name: string; value: string };

/** Throws if it is not a private key. */
export function publicKeyOf(privateKey: string): PublicKey {
  const key = createPublicKey(createPrivateKey(privateKey));
  const der = key.export({ format: "der", type: "spki" });
  return key.asymmetricKeyType === "ed25519"
    ? { type: "ed25519", base64: der.subarray(-RAW_ED25519).toString("base64") }
    : { type: "rsa", base64: der.toString("base64") };
}

export const recordName = (domain: string, selector: string): string => `${selector}._domainkey.${domain}`;
export const recordValue = ({ type, base64 }: PublicKey): string => `v=DKIM1; k=${type}; p=${base64}`;

/** The record as written in a zone file, which needs long texts split; DNS consoles split them themselves. */
export function zoneLine({ name, value }: TxtRecord): string {
  const strings = value.match(new RegExp(`.{1,${MAX_STRING}}`, "g")) ?? [];
  return `${name}. IN TXT (${strings.map((text) => ` "${text}"`).join("")} )`;
}
