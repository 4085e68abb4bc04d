/** Errors of an SMTP configuration beyond its schema; the answer lists them together with the schema's own. */
import { createPrivateKey } from "node:crypto";
import { isIP } from "node:net";
import { domainToASCII } from "node:url";
import type { TlsMode } from "../../../models/smtp-config.ts";
import { asciiDomain } from "../../lib/address.ts";
import { config } from "../../lib/config.ts";
import type { FieldErrors } from "../../lib/errors.ts";
import { HostError, PERMIT_HELP, resolvePublic } from "../../lib/ssrf/guard.ts";
import { bounceAddressError } from "../../lib/tokens/bounce-token.ts";
import { type GivenLimits, limitErrors } from "./domain-limits.ts";

const LABELS = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/i;
const MIN_RSA_BITS = 1_024;

/** What a stored password would be sent to. */
interface Target {
  host: string;
  port: number;
  username: string;
  useTls: boolean;
  tlsMode: TlsMode;
}

const isEncrypted = ({ useTls, tlsMode }: Pick<Target, "useTls" | "tlsMode">) =>
  tlsMode === "auto" ? useTls : tlsMode !== "none";

/**
 * The error on `password` where a change would send the stored one somewhere else, under another name, or in the clear:
 * whoever changes a configuration may write the password, and must not get to know it.
 */
export function passwordError(stored: Target, given: Partial<Target>): FieldErrors {
  const { host, port, username, useTls, tlsMode } = stored;
  const changed = { host, port, username, useTls, tlsMode, ...given };
  const moved =
    changed.host.toLowerCase() !== host.toLowerCase() || changed.port !== port || changed.username !== username;
  if (!moved && (isEncrypted(changed) || !isEncrypted(stored))) return {};
  return {
    password: ["The password is needed to change host, port or username, or to switch TLS off: give it again."],
  };
}

interface Dkim {
  domain: string;
  selector: string;
  private_key?: string;
}

/** Undefined where the host may be connected to; a name that has no address yet may be saved. */
export async function hostError(host: string): Promise<string | undefined> {
  const name = host.trim();
  const ascii = isIP(name) ? name : domainToASCII(name);
  if (!isIP(name) && (ascii.length > 253 || !LABELS.test(ascii))) return "Enter a valid host name or IP address.";
  if (config().ALLOW_PRIVATE_NETWORKS) return undefined;
  try {
    await resolvePublic(name, { allowPrivate: false });
  } catch (error) {
    if (error instanceof HostError && error.reason === "refused") return `${error.message} ${PERMIT_HELP}`;
  }
  return undefined;
}

function dkimKeyError(pem: string): string | undefined {
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

function dkimErrors({ domain, selector, private_key: key }: Dkim, hasStoredKey: boolean): string[] {
  const errors: string[] = [];
  if (!asciiDomain(domain)) errors.push("domain: Enter a valid domain name.");
  if (!LABELS.test(selector)) errors.push("selector: Enter a valid DKIM selector.");
  if (key === undefined) {
    if (!hasStoredKey) errors.push("private_key: This field is required.");
  } else {
    const error = dkimKeyError(key);
    if (error) errors.push(error);
  }
  return errors;
}

interface Given {
  host?: string;
  dkim?: Dkim | null;
  bounce_address?: string | null;
  domain_limits?: GivenLimits;
}

/** `hasStoredKey`: whether a DKIM key is stored already; called only where it matters. */
export async function configErrors(
  given: Given,
  isValid: (field: "host" | "dkim" | "bounce_address" | "domain_limits") => boolean,
  hasStoredKey: () => Promise<boolean> = async () => false,
): Promise<FieldErrors> {
  const errors: FieldErrors = {};
  if (isValid("host")) {
    const error = await hostError(given.host!);
    if (error) errors.host = [error];
  }
  if (isValid("bounce_address") && given.bounce_address) {
    const error = bounceAddressError(given.bounce_address.trim());
    if (error) errors.bounce_address = [error];
  }
  if (isValid("domain_limits") && given.domain_limits) {
    const found = limitErrors(given.domain_limits);
    if (found.length > 0) errors.domain_limits = found;
  }
  if (isValid("dkim") && given.dkim) {
    const found = dkimErrors(given.dkim, given.dkim.private_key === undefined && (await hasStoredKey()));
    if (found.length > 0) errors.dkim = found;
  }
  return errors;
}
