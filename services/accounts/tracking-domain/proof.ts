/**
 * Verifies a company's tracking domain: by a CNAME to the host of BASE_URL, or by a token that the company's host
 * serves. That host is untrusted: SSRF rules and limits apply, and redirects are not followed.
 */
import { config } from "../../lib/config.ts";
import { configuredLookups, type Lookups } from "../../lib/dns-lookups.ts";
import { ownHost, TOKEN_PATH } from "../../lib/links-base.ts";
import { getText, OtherAnswer } from "../../lib/ssrf/get-text.ts";
import { HostError } from "../../lib/ssrf/guard.ts";

/**
 * `missing`: there is no such DNS record, or the host gives a wrong answer. `unknown`: there was no answer, but there
 * may be one later.
 */
export type Proof = "found" | "missing" | "unknown";

const LOOKUP_MS = 3_000;
const FETCH_MS = 3_000;
const MAX_BYTES = 1_024;
/** Maximum CNAME chain; providers use two or three. */
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

/** URLs to try: the scheme and port of links in emails, and the default port of the domain's own web server. */
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

/** A matching IP address proves nothing, because many hosts may share it. */
async function tokenProof(dns: Lookups, domain: string, token: string): Promise<Proof> {
  const answer = await dns.addresses(domain);
  if (answer.is !== "found") return answer.is === "unknown" ? "unknown" : "missing";
  const proofs = await Promise.all(tokenUrls(domain).map((url) => tokenAt(url, token, answer.records)));
  return proofs.find((proof) => proof === "found") ?? proofs.find((proof) => proof === "unknown") ?? "missing";
}

/**
 * Takes at most about 15 s: up to five DNS queries one after another, and meanwhile a query and a request, each with a
 * timeout of 3 s.
 */
export async function findProof(domain: string, token: string): Promise<Proof> {
  const dns = await configuredLookups(LOOKUP_MS);
  try {
    const proofs = await Promise.all([aliasProof(dns, domain), tokenProof(dns, domain, token)]);
    return proofs.find((proof) => proof === "found") ?? proofs.find((proof) => proof === "unknown") ?? "missing";
  } finally {
    dns.close();
  }
}
