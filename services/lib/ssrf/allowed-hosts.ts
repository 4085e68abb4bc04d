/** Parses and matches the private hosts permitted by ALLOWED_PRIVATE_HOSTS: names, addresses and networks. Pure. */
import { asciiHost } from "../address.ts";
import { isWithin, type Network, parseNetwork } from "../ip-networks.ts";

export interface AllowedHosts {
  readonly names: ReadonlySet<string>;
  readonly networks: readonly Network[];
}

const nameOf = (host: string) => asciiHost(host.trim().replace(/\.$/, ""));

/** Parses a comma-separated list. Null if an entry is neither a name, an address nor a network in CIDR notation. */
export function parseAllowedHosts(text: string): AllowedHosts | null {
  const names = new Set<string>();
  const networks: Network[] = [];
  for (const entry of text.split(",").map((one) => one.trim())) {
    if (entry === "") continue;
    const network = parseNetwork(entry);
    const name = nameOf(entry);
    if (network) networks.push(network);
    else if (name !== null) names.add(name);
    else return null;
  }
  return { names, networks };
}

export const allowsName = ({ names }: AllowedHosts, host: string): boolean => names.has(nameOf(host) ?? "");

/** `address`: as returned by `literalAddress` or the DNS. */
export const allowsAddress = ({ networks }: AllowedHosts, address: string): boolean => isWithin(networks, address);
