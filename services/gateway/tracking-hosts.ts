/**
 * Hosts that companies use in place of the service's own. Such a host serves only the public pages of its company's
 * mails: no API, no sign-in, no pages of others. Every other host, including unverified ones, counts as a name that the
 * operator gave the service.
 */
import { isIP } from "node:net";
import { call } from "../call.ts";
import { asciiDomain } from "../lib/address.ts";
import { notFound } from "../lib/errors.ts";
import { TOKEN_PATH } from "../lib/links-base.ts";
import { TtlCache } from "../lib/ttl-cache.ts";
import type { Context, Next } from "./http/context.ts";
import type { RouteHandler } from "./http/router.ts";

type Broker = Parameters<typeof call>[0];

const TTL_MS = 1_000;
const MAX_HOSTS = 10_000;
const PUBLIC = "/api/emails/public/";
const TLS_PATH = "/internal/tls-allowed";

/** The Host header without its port. */
const hostName = (header: string): string => header.replace(/:\d*$/, "").toLowerCase();

/** A host that could be a company's, in its ASCII form; null for IP addresses and single-label names. */
function candidate(host: string): string | null {
  if (!host.includes(".") || isIP(host) !== 0) return null;
  return asciiDomain(host);
}

export class TrackingHosts {
  readonly #cache = new TtlCache<string | null>(TTL_MS, MAX_HOSTS);
  readonly #broker: Broker;
  readonly #own: string;

  constructor(broker: Broker, baseUrl: string) {
    this.#broker = broker;
    this.#own = new URL(baseUrl).hostname;
  }

  /** The company that has verified this host. */
  async companyOf(header: string | undefined): Promise<string | null> {
    return header === undefined ? null : this.companyOfName(hostName(header));
  }

  async companyOfName(name: string): Promise<string | null> {
    const host = name === this.#own ? null : candidate(name);
    if (host === null) return null;
    return this.#cache.get(host, async () => (await this.#ask(host)).company_id);
  }

  /** The token to serve for verifying the host; null if nobody has claimed it. */
  async tokenOf(header: string | undefined): Promise<string | null> {
    const host = candidate(hostName(header ?? ""));
    return host === null ? null : (await this.#ask(host)).token;
  }

  /** Call after a company claimed, verified or released a host. */
  forget(companyId: string): void {
    this.#cache.drop((company) => company === null || company === companyId);
  }

  #ask(host: string) {
    return call(this.#broker, "tracking.trackingHost", { host });
  }
}

/** Sets the company of the host, and answers 404 for paths that it does not serve. */
export function trackingHosts(hosts: TrackingHosts) {
  return async (context: Context, next: Next): Promise<void> => {
    const { path } = context;
    const isPage = path.startsWith(PUBLIC);
    let company: string | null = null;
    try {
      company = await hosts.companyOf(context.req.headers.host);
    } catch (error) {
      // Shows no page if the host is unknown; other requests need credentials anyway.
      if (isPage) throw error;
    }
    if (company === null) return next();
    if (!isPage && path !== TOKEN_PATH) throw notFound();
    context.state.hostOf = company;
    return next();
  };
}

/**
 * The verification token of the requested host, and for proxies with on-demand certificates whether a host may have
 * one.
 */
export const trackingHostPages = (hosts: TrackingHosts): [path: string, handler: RouteHandler][] => [
  [
    TOKEN_PATH,
    async (context) => {
      context.state.route = TOKEN_PATH;
      const token = await hosts.tokenOf(context.req.headers.host);
      if (token === null) throw notFound();
      context.type = "text/plain; charset=utf-8";
      context.body = token;
    },
  ],
  [
    TLS_PATH,
    async (context) => {
      context.state.route = TLS_PATH;
      const { domain } = context.query;
      if (typeof domain !== "string" || (await hosts.companyOfName(domain.toLowerCase())) === null) throw notFound();
      context.body = { detail: "It may have a certificate." };
    },
  ],
];
