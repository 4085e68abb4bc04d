/** Recognizes hosts on this machine or its network by their spelling, without asking the DNS. */
import { isPublicAddress, literalAddress } from "./address-range.ts";

const LOCAL_NAME = /(?:^|\.)localhost$/;
/** Names of one label are a search domain's or a container's; the suffixes are kept for local use (RFC 6761, 6762, 8375). */
const PRIVATE_NAME = /^[^.]*$|\.(?:local|localhost|internal|lan|home\.arpa)$/;

const nameOf = (host: string) => host.trim().toLowerCase().replace(/\.$/, "");

/** Returns whether the host is this machine: localhost, 127.0.0.0/8, ::1, or an unspecified address. */
export function isLoopbackHost(host: string): boolean {
  const literal = literalAddress(host.trim());
  return literal === null ? LOCAL_NAME.test(nameOf(host)) : /^127\.|^0\.0\.0\.0$|^::1?$/.test(literal);
}

/** True if a listening address can be reached only from this machine: 0.0.0.0 and :: can be reached from everywhere. */
export const isLoopbackOnly = (host: string): boolean =>
  isLoopbackHost(host) && !/^(?:0\.0\.0\.0|::)$/.test(literalAddress(host.trim()) ?? "");

/**
 * Returns whether the host is this machine or in a private network. A public DNS name counts as public, whatever it
 * resolves to.
 */
export function isLocalHost(host: string): boolean {
  const literal = literalAddress(host.trim());
  return literal === null ? PRIVATE_NAME.test(nameOf(host)) : !isPublicAddress(literal);
}

/** Reserved top-level domains (RFC 2606, RFC 6761): mail with them is a trial. */
const RESERVED_NAME = /(?:^|\.)(?:test|example|invalid)$/;

/** True for a sender's domain that no receiver can look up. */
export const isReservedDomain = (domain: string): boolean =>
  isLoopbackHost(domain) || RESERVED_NAME.test(nameOf(domain));
