/** What is wrong with an SMTP configuration beyond its schema: told together with the schema's own faults. */
import { createPrivateKey } from "node:crypto";
import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import { asciiDomain } from "../../lib/address.ts";
import { config } from "../../lib/config.ts";
import type { FieldErrors } from "../../lib/errors.ts";
import { HostError, resolvePublic } from "../../lib/ssrf/guard.ts";

const LABELS = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/i;
const MIN_RSA_BITS = 1_024;

interface Dkim {
  domain: string;
  selector: string;
  private_key?: string;
}

/** Undefined where the host may be connected to; a name that has no address yet may be saved. */
async function hostFault(host: string): Promise<string | undefined> {
  const name = host.trim();
  const ascii = isIP(name) ? name : domainToASCII(name);
  if (!isIP(name) && (ascii.length > 253 || !LABELS.test(ascii))) return "Enter a valid host name or IP address.";
  if (config().ALLOW_PRIVATE_NETWORKS) return undefined;
  try {
    await resolvePublic(name, { allowPrivate: false });
  } catch (error) {
    if (error instanceof HostError && error.reason === "refused") return error.message;
  }
  return undefined;
}

export function dkimKeyError(pem: string): string | undefined {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem);
    if (asymmetricKeyType === "ed25519") return undefined;
    if (asymmetricKeyType !== "rsa") return "private_key: Only RSA and Ed25519 keys can sign mail.";
    if ((asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS) return undefined;
    return `private_key: An RSA key must have at least ${MIN_RSA_BITS} bits.`;
  } catch {
    return "private_key: Not a valid private key in PEM format.";
  }
}

function dkimFaults({ domain, selector, private_key: key }: Dkim, keyIsKept: boolean): string[] {
  const faults: string[] = [];
  if (!asciiDomain(domain)) faults.push("domain: Enter a valid domain name.");
  if (!LABELS.test(selector)) faults.push("selector: Enter a valid DKIM selector.");
  if (key === undefined) {
    if (!keyIsKept) faults.push("private_key: This field is required.");
  } else {
    const fault = dkimKeyError(key);
    if (fault) faults.push(fault);
  }
  return faults;
}

interface Given {
  host?: string;
  dkim?: Dkim | null;
}

/** `keyIsKept` tells whether a DKIM key is stored already; asked only where it matters. */
export async function configErrors(
  given: Given,
  isValid: (field: "host" | "dkim") => boolean,
  keyIsKept: () => Promise<boolean> = async () => false,
): Promise<FieldErrors> {
  const faults: FieldErrors = {};
  if (isValid("host")) {
    const fault = await hostFault(given.host!);
    if (fault) faults.host = [fault];
  }
  if (isValid("dkim") && given.dkim) {
    const found = dkimFaults(given.dkim, given.dkim.private_key === undefined && (await keyIsKept()));
    if (found.length > 0) faults.dkim = found;
  }
  return faults;
}
