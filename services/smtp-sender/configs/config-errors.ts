/** Checks an SMTP configuration beyond its schema; the response lists these errors together with the schema's. */

import { isIP } from "node:net";
import type { TlsMode } from "../../../models/smtp-config.ts";
import type { Warmup } from "../../../models/warmup-ledger.ts";
import { addressText, asciiHost } from "../../lib/address.ts";
import { config } from "../../lib/config.ts";
import type { FieldErrors } from "../../lib/errors.ts";
import { HostError, PERMIT_HELP, resolvePublic } from "../../lib/ssrf/guard.ts";
import { bounceAddressError } from "../../lib/tokens/bounce-token.ts";
import { type GivenLimits, limitErrors } from "./domain-limits.ts";

/** The server and login to which a stored password would be sent. */
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
 * Requires the password again if a change would send the stored one to another server, with another user name, or
 * unencrypted: people who may edit a configuration must not be able to obtain its password.
 */
export function passwordError(stored: Target, given: Partial<Target>): FieldErrors {
  const { host, port, username, useTls, tlsMode } = stored;
  const changed = { host, port, username, useTls, tlsMode, ...given };
  const hasMoved =
    changed.host.toLowerCase() !== host.toLowerCase() || changed.port !== port || changed.username !== username;
  if (!hasMoved && (isEncrypted(changed) || !isEncrypted(stored))) return {};
  return {
    password: ["Enter the password again to change host, port or username, or to turn TLS off."],
  };
}

/** Undefined for a valid host name or address. */
const spellingError = (host: string): string | undefined =>
  isIP(host.trim()) || asciiHost(host) ? undefined : "Enter a valid host name or IP address.";

/** Checks only the spelling; the connection test reports where the name resolves to. */
export function hostErrors({ params }: { params: { host: string } }, isValid: (field: "host") => boolean): FieldErrors {
  const error = isValid("host") ? spellingError(params.host) : undefined;
  return error ? { host: [error] } : {};
}

/** Undefined if connections to the host are permitted. A name that has no address yet may be saved. */
export async function hostError(host: string): Promise<string | undefined> {
  const name = host.trim();
  const error = spellingError(name);
  if (error) return error;
  if (config().ALLOW_PRIVATE_NETWORKS) return undefined;
  try {
    await resolvePublic(name, { allowPrivate: false });
  } catch (error) {
    if (error instanceof HostError && error.reason === "refused") return `${error.message} ${PERMIT_HELP}`;
  }
  return undefined;
}

interface GivenConfig {
  host?: string;
  bounce_address?: string | null;
  warmup?: Warmup | null;
  domain_limits?: GivenLimits;
}

export async function configErrors(
  given: GivenConfig,
  isValid: (field: "host" | "bounce_address" | "warmup" | "domain_limits") => boolean,
): Promise<FieldErrors> {
  const errors: FieldErrors = {};
  if (isValid("host")) {
    const error = await hostError(given.host!);
    if (error) errors.host = [error];
  }
  if (isValid("bounce_address") && given.bounce_address) {
    const error = bounceAddressError(addressText(given.bounce_address));
    if (error) errors.bounce_address = [error];
  }
  if (isValid("warmup") && given.warmup && given.warmup.until_per_day < given.warmup.start_per_day) {
    errors.warmup = ["until_per_day: Ensure this value is greater than or equal to start_per_day."];
  }
  if (isValid("domain_limits") && given.domain_limits) {
    const found = limitErrors(given.domain_limits);
    if (found.length > 0) errors.domain_limits = found;
  }
  return errors;
}
