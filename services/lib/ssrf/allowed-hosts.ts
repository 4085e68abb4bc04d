/** The private hosts that the operator permits by ALLOWED_PRIVATE_HOSTS: names, addresses, and networks. Pure. */
import { domainToASCII } from "node:url";
import ipaddr from "ipaddr.js";
import { literalAddress } from "./address-range.ts";

export interface AllowedHosts {
  readonly names: ReadonlySet<string>;
  readonly networks: readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number][];
}

const NAME = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/;

/** `domainToASCII` takes a host out of what looks like a URL. */
const nameOf = (host: string) => (/[/?#@:\\]/.test(host) ? "" : domainToASCII(host.trim()).replace(/\.$/, ""));

function networkOf(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  const literal = literalAddress(text);
  if (literal === null) return undefined;
  const address = ipaddr.process(literal);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

/** Comma separated. Null where an entry is neither a name nor an address nor a network in CIDR notation. */
export function parseAllowedHosts(text: string): AllowedHosts | null {
  const names = new Set<string>();
  const networks: [ipaddr.IPv4 | ipaddr.IPv6, number][] = [];
  for (const entry of text.split(",").map((one) => one.trim())) {
    if (entry === "") continue;
    const network = networkOf(entry);
    const name = nameOf(entry);
    if (network) networks.push(network);
    else if (NAME.test(name)) names.add(name);
    else return null;
  }
  return { names, networks };
}

export const allowsName = ({ names }: AllowedHosts, host: string): boolean => names.has(nameOf(host));

/** `address`: as `literalAddress` or the DNS gives it. */
export function allowsAddress({ networks }: AllowedHosts, address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return networks.some((network) => parsed.kind() === network[0].kind() && parsed.match(network));
}
