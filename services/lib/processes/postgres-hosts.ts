/**
 * Selects a host of DATABASE_URL, which may name several as in libpq (`postgres://user@one,two:5433/db`, or
 * `?host=one,two`): a primary and its standbys. Connects to the writable one; pg itself supports only one host.
 */
import pg from "pg";

/** Time-out per host: a dead machine does not answer at all. */
const PROBE_TIMEOUT_MS = 3_000;
/** Connections opened at the same time share one probe. */
const KNOWN_FOR_MS = 1_000;

const PARTS = /^(postgres(?:ql)?:\/\/)((?:[^@/?#]*@)?)([^/?#]*)([^#]*)$/;

function split(url: string): { before: string; hosts: string[]; after: string } {
  const parts = PARTS.exec(url);
  if (!parts) throw new TypeError("Invalid URL");
  const [, protocol, login, authority, rest] = parts as unknown as string[];
  const [path, search = ""] = rest!.split("?", 2) as [string, string?];
  const params = new URLSearchParams(search);
  const names = params.get("host")?.split(",");
  const ports = params.get("port")?.split(",") ?? [];
  const others = search.split("&").filter((one) => !/^(host|port)=/.test(one));
  if (!names || names[0]!.startsWith("/")) {
    return { before: `${protocol}${login}`, hosts: authority!.split(","), after: rest! };
  }
  const portOf = (n: number) => ports[ports.length === 1 ? 0 : n];
  const hosts = names.map((name, n) => `${name.includes(":") ? `[${name}]` : name}${portOf(n) ? `:${portOf(n)}` : ""}`);
  return {
    before: `${protocol}${login}`,
    hosts,
    after: `${path || "/"}${others.join("&") ? `?${others.join("&")}` : ""}`,
  };
}

/** Returns one URL per host, in order. Throws on an invalid PostgreSQL URL. */
export function hostUrls(url: string): string[] {
  const { before, hosts, after } = split(url);
  const urls = hosts.map((host) => `${before}${host}${after}`);
  for (const one of urls) new URL(one);
  return urls;
}

export const isPostgresUrl = (url: string): boolean => {
  try {
    return hostUrls(url).length > 0;
  } catch {
    return false;
  }
};

/** `host:port` of each, for messages without user and password. */
export const addressesOf = (url: string): string =>
  hostUrls(url)
    .map((one) => {
      const { hostname, port, searchParams } = new URL(one);
      return `${hostname || searchParams.get("host") || "localhost"}:${port || searchParams.get("port") || 5432}`;
    })
    .join(", ");

/** Returns an error if `target_session_attrs` allows a server that is not writable. */
export function sessionAttributesError(url: string): string | undefined {
  const sessionAttribute = new URL(hostUrls(url)[0]!).searchParams.get("target_session_attrs");
  if (sessionAttribute === null || ["read-write", "primary", "any"].includes(sessionAttribute)) return undefined;
  return `target_session_attrs=${sessionAttribute} cannot be: Flockmail needs the server that takes writes (read-write)`;
}

class NotWritable extends Error {}

/** Resolves if the server accepts connections and writes. */
export async function probe(url: string, timeoutMs = PROBE_TIMEOUT_MS): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: timeoutMs, query_timeout: timeoutMs });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query(
      "select pg_is_in_recovery() as standby, current_setting('transaction_read_only') as ro",
    );
    if (rows[0].standby) throw new NotWritable("it is a standby and takes no writes");
    if (rows[0].ro === "on") throw new NotWritable("it is set to read-only");
  } finally {
    await client.end().catch(() => {});
  }
}

const cache = new Map<string, { url: Promise<string>; atMs: number }>();

async function findWritable(urls: readonly string[], last: string | undefined): Promise<string> {
  const check = (url: string) => probe(url).then(() => url);
  // Tries the last one first: in a split brain, this process stays with one of them.
  if (last) {
    const confirmed = await check(last).catch(() => undefined);
    if (confirmed) return confirmed;
  }
  try {
    return await Promise.any(urls.map(check));
  } catch (error) {
    const reasons = (error as AggregateError).errors as Error[];
    throw reasons.find((reason) => !(reason instanceof NotWritable)) ?? reasons[0]!;
  }
}

/** URL of the host to connect to: the only one, or the writable one. */
export async function writableHost(url: string): Promise<string> {
  const urls = hostUrls(url);
  if (urls.length === 1) return urls[0]!;
  const before = cache.get(url);
  if (before && performance.now() - before.atMs < KNOWN_FOR_MS) return before.url;
  const last = await before?.url.catch(() => undefined);
  const found = findWritable(urls, last);
  cache.set(url, { url: found, atMs: performance.now() });
  return found;
}
