import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

const plain = (address: string) => (address.startsWith("::ffff:") ? address.slice(7) : address);

/**
 * The client's address. Each trusted proxy appends one address to X-Forwarded-For, so the client's is that many from
 * the right. Everything further left was written by the client and proves nothing.
 */
export function clientIp(socketAddress: string, forwardedFor: string | undefined, trustedProxies: number): string {
  if (trustedProxies > 0 && forwardedFor) {
    const chain = forwardedFor.split(",");
    const claimed = plain(chain[Math.max(0, chain.length - trustedProxies)]!.trim());
    if (isIP(claimed) !== 0) return claimed;
  }
  return plain(socketAddress);
}

/** The unit of rate limits: one IPv6 customer has a whole /64 to choose addresses from. */
export function addressBlock(ip: string): string {
  if (isIP(ip) !== 6) return ip;
  const bytes = ipaddr.parse(ip).toByteArray();
  return `${Buffer.from(bytes.slice(0, 8)).toString("hex")}/64`;
}
