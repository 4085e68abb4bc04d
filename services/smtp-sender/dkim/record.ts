/** The TXT record that makes a DKIM key known (RFC 6376 section 3.6.1, RFC 8463 section 4). */
import { createPrivateKey, createPublicKey } from "node:crypto";
import type { DkimAlgorithm } from "../../../models/dkim-key.ts";

/** RFC 8463: the 32 bytes themselves; RSA keys stand there as SubjectPublicKeyInfo. */
const RAW_ED25519 = 32;
/** RFC 1035 section 3.3: the longest string of a TXT record. */
export const MAX_STRING = 255;

export interface PublicKey {
  type: DkimAlgorithm;
  base64: string;
}

/** `value` is one text, however long: verifiers join the strings that the DNS makes of it. */
export type TxtRecord = { name: string; value: string };

/** Throws where it is no private key. */
export function publicKeyOf(privateKey: string): PublicKey {
  const key = createPublicKey(createPrivateKey(privateKey));
  const der = key.export({ format: "der", type: "spki" });
  return key.asymmetricKeyType === "ed25519"
    ? { type: "ed25519", base64: der.subarray(-RAW_ED25519).toString("base64") }
    : { type: "rsa", base64: der.toString("base64") };
}

export const recordName = (domain: string, selector: string): string => `${selector}._domainkey.${domain}`;
export const recordValue = ({ type, base64 }: PublicKey): string => `v=DKIM1; k=${type}; p=${base64}`;

/** The record as a zone file has it: DNS consoles cut long texts themselves, zone files do not. */
export function zoneLine({ name, value }: TxtRecord): string {
  const strings = value.match(new RegExp(`.{1,${MAX_STRING}}`, "g")) ?? [];
  return `${name}. IN TXT (${strings.map((text) => ` "${text}"`).join("")} )`;
}
