/** Parses and matches lists of addresses and networks (10.1.0.0/16, 2001:db8::/32, 192.0.2.7). Pure. */
import ipaddr from "ipaddr.js";
import { literalAddress } from "./ssrf/address-range.ts";

export type Network = [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** Undefined if it is neither an address nor a network in CIDR notation. */
export function parseNetwork(text: string): Network | undefined {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  const literal = literalAddress(text);
  if (literal === null) return undefined;
  const address = ipaddr.process(literal);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

export function isWithin(networks: readonly Network[], address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return networks.some((network) => parsed.kind() === network[0].kind() && parsed.match(network));
}

/** The network that an address's owner probably controls: an IPv4 /24, an IPv6 /48. */
export function addressPrefix(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  const bytes = parsed.toByteArray().slice(0, parsed.kind() === "ipv4" ? 3 : 6);
  return `${Buffer.from(bytes).toString("hex")}/${bytes.length * 8}`;
}
