/**
 * Looks up DNS records for reports and domain proofs: distinguishes three outcomes, asks each name once, and ends
 * within a time limit.
 */
import { lookup, Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { config } from "./config.ts";

/** `none`: the name or the records do not exist. `unknown`: the DNS did not say (SERVFAIL, REFUSED, silence). */
export type Answer<T> = { is: "found"; records: T[] } | { is: "none" } | { is: "unknown"; why: string };

interface Mx {
  exchange: string;
  priority: number;
}

const NO_RECORDS = new Set(["ENODATA", "ENOTFOUND", "NOTFOUND", "NODATA"]);
const MAX_RECORDS = 100;

/** Parses comma-separated `host[:port]` into resolver addresses. Names are looked up by the system. */
export async function serverAddresses(servers: string): Promise<string[]> {
  const each = servers.split(",").map(async (server) => {
    const [, host, port] = /^(\[.+\]|[^:]+|[0-9a-f:]+:[0-9a-f:]*:[0-9a-f:]*)(?::(\d+))?$/i.exec(server.trim()) ?? [];
    if (!host) throw new Error(`DNS_SERVERS: "${server.trim()}" is not a host[:port]`);
    const bare = host.replace(/^\[|\]$/g, "");
    const address = isIP(bare) ? bare : (await lookup(bare)).address;
    const literal = isIP(address) === 6 ? `[${address}]` : address;
    return port ? `${literal}:${port}` : address;
  });
  return Promise.all(each);
}

/** Uses DNS_SERVERS, else the system's name servers. */
export async function configuredLookups(timeoutMs: number): Promise<Lookups> {
  const { DNS_SERVERS } = config();
  return new Lookups(timeoutMs, DNS_SERVERS ? await serverAddresses(DNS_SERVERS) : undefined);
}

export class Lookups {
  readonly #resolver: Resolver;
  readonly #asked = new Map<string, Promise<Answer<never>>>();

  /** `servers`: addresses that replace the system's. A silent server is asked twice within `timeoutMs`. */
  constructor(timeoutMs: number, servers?: readonly string[]) {
    this.#resolver = new Resolver({ timeout: Math.ceil(timeoutMs / 3), tries: 2 });
    if (servers) this.#resolver.setServers(servers);
  }

  /** Returns TXT records, each with its strings joined (RFC 7208 section 3.3, RFC 6376 section 3.6.2.2). */
  txt(name: string): Promise<Answer<string>> {
    return this.#ask("TXT", name, async () =>
      (await this.#resolver.resolveTxt(name)).map((strings) => strings.join("")),
    );
  }

  mx(name: string): Promise<Answer<Mx>> {
    return this.#ask("MX", name, async () =>
      (await this.#resolver.resolveMx(name)).toSorted((a, b) => a.priority - b.priority),
    );
  }

  /** Canonical names, if the name is an alias. */
  cname(name: string): Promise<Answer<string>> {
    return this.#ask("CNAME", name, () => this.#resolver.resolveCname(name));
  }

  /** IPv4 and IPv6 addresses. Unknown only if neither is known. */
  async addresses(name: string): Promise<Answer<string>> {
    const answers = await Promise.all([
      this.#ask("A", name, () => this.#resolver.resolve4(name)),
      this.#ask("AAAA", name, () => this.#resolver.resolve6(name)),
    ]);
    const records = answers.flatMap((answer) => (answer.is === "found" ? answer.records : []));
    if (records.length > 0) return { is: "found", records };
    return answers.find(({ is }) => is === "unknown") ?? { is: "none" };
  }

  /** Cancels outstanding queries, whose answers are then unknown. */
  close(): void {
    this.#resolver.cancel();
  }

  #ask<T>(type: string, name: string, resolve: () => Promise<T[]>): Promise<Answer<T>> {
    const key = `${type} ${name.toLowerCase()}`;
    let lookup = this.#asked.get(key) as Promise<Answer<T>> | undefined;
    if (!lookup) {
      lookup = resolve().then(
        (records): Answer<T> =>
          records.length > 0 ? { is: "found", records: records.slice(0, MAX_RECORDS) } : { is: "none" },
        (error: NodeJS.ErrnoException): Answer<T> =>
          NO_RECORDS.has(error.code ?? "") ? { is: "none" } : { is: "unknown", why: why(error.code) },
      );
      this.#asked.set(key, lookup as Promise<Answer<never>>);
    }
    return lookup;
  }
}

function why(code: string | undefined): string {
  if (code === "ESERVFAIL") return "Its name server reports a failure (SERVFAIL)";
  if (code === "EREFUSED") return "Its name server refuses to answer";
  if (code === "EBADNAME" || code === "EBADQUERY") return "The name is not valid in DNS";
  return "No name server answered in time";
}
