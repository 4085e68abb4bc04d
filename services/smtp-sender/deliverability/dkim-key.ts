/** Checks that the published DKIM key (RFC 6376, RFC 8463) is the one that signs. */
import { createPublicKey, type KeyObject } from "node:crypto";
import type { Lookups } from "../../lib/dns-lookups.ts";
import {
  MAX_STRING,
  type PublicKey,
  publicKeyOf,
  recordName,
  recordValue,
  type TxtRecord,
  zoneLine,
} from "../dkim/record.ts";
import { type Check, conclude, dnsUnknown, type Finding } from "./check.ts";
import { parseTags } from "./tags.ts";

export interface Signature {
  domain: string;
  selector: string;
  privateKey: string;
}

/** DNS record that publishes this key. */
export function dkimRecord({ domain, selector, privateKey }: Signature): TxtRecord {
  return { name: recordName(domain, selector), value: recordValue(publicKeyOf(privateKey)) };
}

/**
 * `bare`: PKCS#1, as RFC 6376 describes, rather than the form of its erratum, which verifiers expect; some accept both.
 */
function publishedForm(ownKey: PublicKey, published: string): "usual" | "bare" | "other" {
  const bytes = Buffer.from(published, "base64");
  if (bytes.toString("base64") === ownKey.base64) return "usual";
  if (ownKey.type !== "rsa") return "other";
  let key: KeyObject;
  try {
    key = createPublicKey({ key: bytes, format: "der", type: "pkcs1" });
  } catch {
    return "other";
  }
  return key.export({ format: "der", type: "spki" }).toString("base64") === ownKey.base64 ? "bare" : "other";
}

/** Undefined if the record is valid. */
function fault(tags: Map<string, string> | undefined, ownKey: PublicKey): Finding | undefined {
  const fail = (help: string): Finding => ({ status: "fail", help });
  const version = tags?.get("v");
  if (!tags || (version !== undefined && version !== "DKIM1"))
    return fail("The record is not a DKIM key. Publish it as shown.");
  const key = tags.get("p")?.replaceAll(/\s/g, "");
  if (key === undefined) return fail("The record has no key (p=): publish it as shown.");
  if (key === "")
    return fail("The key has been revoked (p= is empty): publish it again, or sign with another selector.");
  const type = tags.get("k")?.toLowerCase() ?? "rsa";
  if (type !== ownKey.type)
    return fail(`The published key is of type ${type}, yours of type ${ownKey.type}: publish it as shown.`);
  const form = publishedForm(ownKey, key);
  if (form === "other")
    return fail("The published key differs from the signing key, so every signature is refused. Publish it as shown.");
  const listed = (tag: string) =>
    tags
      .get(tag)
      ?.split(":")
      .map((value) => value.trim().toLowerCase());
  const hashes = listed("h");
  if (hashes && !hashes.includes("sha256")) return fail("The record does not allow SHA-256: remove h=.");
  const services = listed("s");
  if (services && !services.some((service) => service === "*" || service === "email")) {
    return fail("The record does not allow the key for mail: remove s=.");
  }
  if (listed("t")?.includes("y")) {
    return {
      status: "warn",
      help: "The key is marked as a test (t=y), so signatures may be ignored: remove t=y.",
    };
  }
  if (form === "bare") {
    const help =
      "The key is published in its bare form (PKCS#1), which opendkim among others cannot read: publish it as shown.";
    return { status: "warn", help };
  }
  return undefined;
}

export const NO_SIGNATURE: Check = {
  name: "dkim",
  status: "warn",
  found: null,
  expected: null,
  help: "Mail is not signed. Add a DKIM key unless your relay signs for you.",
};

/**
 * Finding for a generated key that is not active yet: no mail is affected, and the owner still has to publish its
 * record.
 */
export function waiting(check: Check): Check {
  if (check.status === "unknown") return check;
  const { name, value } = check.expected as unknown as TxtRecord;
  const why =
    check.found === null
      ? `The key ${name} waits for its DNS record and signs within a minute after it is published.`
      : `The key ${name} waits for its record. ${check.help}`;
  const inFile = value.length > MAX_STRING ? ` In a zone file: ${zoneLine({ name, value })}` : "";
  return { ...check, status: "warn", help: `${why}${inFile}` };
}

/** `found`: the record; null if there is none; an array if there are several. */
export async function checkDkim(dns: Lookups, signature: Signature): Promise<Check> {
  const expected = dkimRecord(signature);
  const answer = await dns.txt(expected.name);
  if (answer.is !== "found") {
    const finding: Finding =
      answer.is === "unknown"
        ? dnsUnknown(expected.name, answer.why)
        : { status: "fail", help: `${expected.name} has no record: publish it as shown.` };
    return { name: "dkim", found: null, expected, ...conclude([finding]) };
  }
  if (answer.records.length > 1) {
    const help = `${expected.name} has ${answer.records.length} records, and receivers may take any: leave one.`;
    return { name: "dkim", found: answer.records, expected, status: "fail", help };
  }
  const [record] = answer.records;
  const found = fault(parseTags(record!), publicKeyOf(signature.privateKey));
  return { name: "dkim", found: record!, expected, ...conclude(found ? [found] : []) };
}
