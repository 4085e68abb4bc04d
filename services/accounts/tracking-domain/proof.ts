/**
 * Whether a host is the company's to use: by a CNAME to the host of BASE_URL, or by a token that it serves. What stands there
 * is a stranger's: it is read under the rules for such addresses, bounded, and never followed elsewhere.
 */
import { config } from "../../lib/config.ts";
import { configuredLookups, type Lookups } from "../../lib/dns-lookups.ts";
import { ownHost, TOKEN_PATH } from "../../lib/links-base.ts";
import { getText, OtherAnswer } from "../../lib/ssrf/get-text.ts";
import { HostError } from "../../lib/ssrf/guard.ts";

/** `missing`: it says something else. `unknown`: it says nothing, and may do so later. */
export type Proof = "found" | "missing" | "unknown";

const LOOKUP_MS = 3_000;
const FETCH_MS = 3_000;
const MAX_BYTES = 1_024;
/** A name that leads to another that leads to another: providers use two or three. */
const MAX_ALIASES = 5;

async function aliasProof(dns: Lookups, domain: string): Promise<Proof> {
  let name = domain;
  for (let i = 0; i < MAX_ALIASES; i++) {
    const answer = await dns.cname(name);
    if (answer.is !== "found") return answer.is === "unknown" ? "unknown" : "missing";
    name = answer.records[0]!.toLowerCase().replace(/\.$/, "");
    if (name === ownHost()) return "found";
  }
  return "missing";
}

/** As links in mails would go, and at the usual port, where the domain's own web server may be. */
function tokenUrls(domain: string): URL[] {
  const { protocol, port } = new URL(config().BASE_URL);
  const hosts = port === "" ? [domain] : [`${domain}:${port}`, domain];
  return hosts.map((host) => new URL(`${protocol}//${host}${TOKEN_PATH}`));
}

async function tokenAt(url: URL, token: string, addresses: string[]): Promise<Proof> {
  const allowPrivate = config().ALLOW_PRIVATE_NETWORKS;
  const host = { allowPrivate, resolve: async () => addresses };
  try {
    const text = await getText(url, { maxBytes: MAX_BYTES, timeoutMs: FETCH_MS }, host);
    return text.trim() === token ? "found" : "missing";
  } catch (error) {
    return error instanceof OtherAnswer || error instanceof HostError ? "missing" : "unknown";
  }
}

/** An address alone proves nothing: any number of hosts may lead to one. */
async function tokenProof(dns: Lookups, domain: string, token: string): Promise<Proof> {
  const answer = await dns.addresses(domain);
  if (answer.is !== "found") return answer.is === "unknown" ? "unknown" : "missing";
  const proofs = await Promise.all(tokenUrls(domain).map((url) => tokenAt(url, token, answer.records)));
  return proofs.find((proof) => proof === "found") ?? proofs.find((proof) => proof === "unknown") ?? "missing";
}

/** Within some 10 s: three questions and a request, each with its own bound. */
export async function findProof(domain: string, token: string): Promise<Proof> {
  const dns = await configuredLookups(LOOKUP_MS);
  try {
    const proofs = await Promise.all([aliasProof(dns, domain), tokenProof(dns, domain, token)]);
    return proofs.find((proof) => proof === "found") ?? proofs.find((proof) => proof === "unknown") ?? "missing";
  } finally {
    dns.close();
  }
}
