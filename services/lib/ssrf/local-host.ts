/** Which hosts are this machine or its own network by their spelling alone, without asking the DNS. */
import { isPublicAddress, literalAddress } from "./address-range.ts";

const LOCAL_NAME = /(?:^|\.)localhost$/;
/** Names of one label are a search domain's or a container's; the suffixes are kept for local use (RFC 6761, 6762, 8375). */
const PRIVATE_NAME = /^[^.]*$|\.(?:local|localhost|internal|lan|home\.arpa)$/;

const nameOf = (host: string) => host.trim().toLowerCase().replace(/\.$/, "");

/** This machine: localhost, 127.0.0.0/8, ::1, and the addresses that stand for all of its own. */
export function isLoopbackHost(host: string): boolean {
  const literal = literalAddress(host.trim());
  return literal === null ? LOCAL_NAME.test(nameOf(host)) : /^127\.|^0\.0\.0\.0$|^::1?$/.test(literal);
}

/** Whether an address to listen on is reached from this machine alone: 0.0.0.0 and :: are reached from everywhere. */
export const isLoopbackOnly = (host: string): boolean =>
  isLoopbackHost(host) && !/^(?:0\.0\.0\.0|::)$/.test(literalAddress(host.trim()) ?? "");

/** This machine or a private network. A name of the public DNS counts as public, wherever it leads. */
export function isLocalHost(host: string): boolean {
  const literal = literalAddress(host.trim());
  return literal === null ? PRIVATE_NAME.test(nameOf(host)) : !isPublicAddress(literal);
}

/** Top-level names that nobody can own (RFC 2606, RFC 6761): mail in their names is a trial. */
const RESERVED_NAME = /(?:^|\.)(?:test|example|invalid)$/;

/** A sender's domain that no receiver could ever look up. */
export const isReservedDomain = (domain: string): boolean =>
  isLoopbackHost(domain) || RESERVED_NAME.test(nameOf(domain));
