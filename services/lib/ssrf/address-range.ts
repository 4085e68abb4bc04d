/**
 * Classifies public internet addresses. Tenants name hosts to connect to; without this check they could reach the
 * service's own network: databases, cloud metadata, the loopback interface.
 */
import ipaddr from "ipaddr.js";

/** Address of Azure's metadata and wire server, although it is in a public range. */
const AZURE_WIRE_SERVER = "168.63.129.16";

/**
 * The address that a host's spelling means, or null for a name. `inet_aton` reads 2130706433, 0x7f.1 and 017700000001
 * as 127.0.0.1, and so does the code that finally connects.
 */
export function literalAddress(host: string): string | null {
  const bare = host.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  if (ipaddr.IPv4.isValid(bare)) return ipaddr.IPv4.parse(bare).toString();
  if (bare.includes(":") && ipaddr.IPv6.isValid(bare)) return ipaddr.IPv6.parse(bare).toString();
  return null;
}

/** The IPv4 address embedded in an IPv6 one, in the two forms a host may really use: mapped, and NAT64 (RFC 6052). */
function carriedIPv4(address: ipaddr.IPv6): string | null {
  const bytes = address.toByteArray();
  const range = address.range();
  const isNat64 = range === "rfc6052" && bytes.slice(4, 12).every((byte) => byte === 0);
  return range === "ipv4Mapped" || isNat64 ? bytes.slice(12).join(".") : null;
}

/** True for a public internet address; false for anything special, tunnelled, or not an address. */
export function isPublicAddress(text: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) {
    return text !== AZURE_WIRE_SERVER && ipaddr.IPv4.parse(text).range() === "unicast";
  }
  // A zone id ("fe80::1%eth0") names an interface of this machine: never a public host.
  if (text.includes("%") || !ipaddr.IPv6.isValid(text)) return false;
  const address = ipaddr.IPv6.parse(text);
  const carried = carriedIPv4(address);
  if (carried) return isPublicAddress(carried);
  // Only 2000::/3 is allocated; other ranges contain IPv4-compatible addresses, among others.
  return address.range() === "unicast" && (address.toByteArray()[0]! & 0xe0) === 0x20;
}
