/**
 * Parses REDIS_URL. One server: redis://user:password@host:6379/0. With TLS: rediss://. With Sentinels (their addresses
 * and the name of the group): redis+sentinel://user:password@host1:26379,host2:26379/group/0. rediss+sentinel:// uses
 * TLS to the Redis servers and to the Sentinels. ?sentinel_username=…&sentinel_password=… are sent to Sentinels that
 * require them. Names and passwords are percent-encoded.
 */
interface Address {
  host: string;
  port: number;
}

export interface RedisTarget {
  tls: boolean;
  username?: string;
  password?: string;
  db: number;
  /** One server, or the Sentinels that know it. */
  addresses: Address[];
  sentinel?: { group: string; username?: string; password?: string };
}

const URL_PARTS = /^(rediss?)(\+sentinel)?:\/\/(?:([^@/]*)@)?([^/?]+)(\/[^?]*)?(?:\?(.*))?$/;
const ADDRESS = /^(\[[\da-f:.]+\]|[^:[\]\s]+)(?::(\d{1,5}))?$/i;
const REDIS_PORT = 6_379;
const SENTINEL_PORT = 26_379;

function addressOf(text: string, defaultPort: number): Address | undefined {
  const [, host, port] = ADDRESS.exec(text) ?? [];
  return host ? { host: host.replace(/^\[|\]$/g, ""), port: Number(port ?? defaultPort) } : undefined;
}

/** Undefined if `url` is not a valid REDIS_URL. */
export function parseRedisUrl(url: string): RedisTarget | undefined {
  const [, scheme, withSentinel, credentials = "", hosts, path = "", query = ""] = URL_PARTS.exec(url) ?? [];
  if (!hosts) return undefined;
  const addresses = hosts.split(",").map((text) => addressOf(text, withSentinel ? SENTINEL_PORT : REDIS_PORT));
  const parameters = new URLSearchParams(query);
  const segments = path.split("/").filter(Boolean);
  const group = withSentinel ? segments.shift() : undefined;
  const [database = "0", ...more] = segments;
  const areValid = addresses.every((address) => address && address.port > 0 && address.port <= 65_535);
  if (!areValid || more.length > 0 || !/^\d+$/.test(database)) return undefined;
  if (withSentinel ? !group : addresses.length > 1) return undefined;
  try {
    const [username, ...rest] = credentials.split(":").map(decodeURIComponent);
    const password = rest.join(":");
    const sentinelUser = parameters.get("sentinel_username");
    const sentinelPassword = parameters.get("sentinel_password");
    return {
      tls: scheme === "rediss",
      ...(username ? { username } : {}),
      ...(password ? { password } : {}),
      db: Number(database),
      addresses: addresses as Address[],
      ...(group
        ? {
            sentinel: {
              group: decodeURIComponent(group),
              ...(sentinelUser ? { username: sentinelUser } : {}),
              ...(sentinelPassword ? { password: sentinelPassword } : {}),
            },
          }
        : {}),
    };
  } catch {
    // A "%" without a valid escape.
    return undefined;
  }
}
