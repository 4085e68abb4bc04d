/** Checks the hosts that email depends on: MX of the sender and bounce addresses, and the host of links. */
import { isIP } from "node:net";
import type { Lookups } from "../../lib/dns-lookups.ts";
import { isLoopbackOnly } from "../../lib/ssrf/local-host.ts";
import { type Check, conclude, dnsUnknown, type Finding } from "./check.ts";

/** Null MX (RFC 7505): the domain accepts no mail. */
const isNullMx = (exchanges: readonly string[]) => exchanges.length === 1 && exchanges[0]!.replace(/\.$/, "") === "";

async function receives(dns: Lookups, domain: string): Promise<{ found: string[] | null; findings: Finding[] }> {
  const mx = await dns.mx(domain);
  if (mx.is === "unknown") return { found: null, findings: [dnsUnknown(domain, mx.why)] };
  if (mx.is === "none") {
    const addresses = await dns.addresses(domain);
    if (addresses.is === "unknown") return { found: null, findings: [dnsUnknown(domain, addresses.why)] };
    if (addresses.is === "none") {
      return {
        found: null,
        findings: [{ status: "fail", help: `${domain} has no mail server: publish an MX record.` }],
      };
    }
    const help = `${domain} has an address and no MX record: some refuse mail from such domains. Publish one.`;
    return { found: addresses.records, findings: [{ status: "warn", help }] };
  }
  const exchanges = mx.records.map(({ exchange }) => exchange);
  if (isNullMx(exchanges)) {
    return { found: ["."], findings: [{ status: "fail", help: `${domain} says that it takes no mail (null MX).` }] };
  }
  const answers = await Promise.all(exchanges.slice(0, 10).map((exchange) => dns.addresses(exchange)));
  if (answers.every(({ is }) => is === "none")) {
    const help = `None of the mail servers of ${domain} has an address.`;
    return { found: exchanges, findings: [{ status: "fail", help }] };
  }
  return { found: exchanges, findings: [] };
}

export async function checkMx(dns: Lookups, domain: string): Promise<Check> {
  const { found, findings } = await receives(dns, domain);
  return { name: "mx", found, expected: null, ...conclude(findings) };
}

/** `address`: null if the envelope uses the sender's own address. */
export async function checkBounceAddress(dns: Lookups, address: string | null, domain: string): Promise<Check> {
  if (address === null) {
    const help =
      "Later bounces go to the sender's address and are not processed. Set a bounce_address whose mail reaches this service.";
    return { name: "bounce_address", status: "warn", found: null, expected: null, help };
  }
  const { findings } = await receives(dns, domain);
  return { name: "bounce_address", found: address, expected: null, ...conclude(findings) };
}

/** `baseUrl`: serves links, the open pixel and public pages. */
export async function checkLinks(dns: Lookups, baseUrl: string): Promise<Check> {
  const { protocol, hostname, origin } = new URL(baseUrl);
  const host = hostname.replace(/^\[|\]$/g, "");
  const findings: Finding[] = [];
  if (protocol !== "https:") findings.push({ status: "warn", help: `Links start with ${origin}: use https.` });
  if (isLoopbackOnly(host)) {
    findings.push({
      status: "fail",
      help: `Only this machine can reach ${host}. Set BASE_URL to a public address.`,
    });
  } else if (!isIP(host)) {
    const answer = await dns.addresses(host);
    if (answer.is === "unknown") findings.push(dnsUnknown(host, answer.why));
    if (answer.is === "none") findings.push({ status: "fail", help: `${host}, where links lead to, has no address.` });
  } else {
    findings.push({ status: "warn", help: `Links lead to the IP address ${host}. Use a host name.` });
  }
  return { name: "links", found: origin, expected: null, ...conclude(findings) };
}
