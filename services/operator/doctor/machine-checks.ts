/** Checks the machine: name servers, disk and Node. */
import { getServers, Resolver } from "node:dns/promises";
import { statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import type { Config } from "../../lib/config.ts";
import { Lookups, serverAddresses } from "../../lib/dns-lookups.ts";
import { sizeText } from "../../lib/size-text.ts";
import { isLocalHost } from "../../lib/ssrf/local-host.ts";
import { type Check, type Finding, findingsOf } from "./finding.ts";

const dns = findingsOf("DNS");
const machine = findingsOf("machine");

const DNS_MS = 3_000;
const DNS_SLOW_MS = 500;
/** Reserved for documentation (RFC 2606), so the query reveals nothing. */
const ANY_NAME = "example.com";

const LITTLE_SHARE = 0.1;
const LITTLE_BYTES = 1024 ** 3;
const NOTHING_BYTES = 100 * 1024 ** 2;

interface ServerAnswer {
  server: string;
  /** Null without an answer. */
  ms: number | null;
}

export function nameServerFinding(answers: readonly ServerAnswer[]): Finding {
  const advice =
    "Correct DNS_SERVERS or the system's /etc/resolv.conf: names of mail servers and webhooks, and the records of DKIM keys, are looked up there.";
  const found = answers.map(({ server, ms }) => `${server} ${ms === null ? "no answer" : `${ms} ms`}`).join(", ");
  const answered = answers.flatMap(({ ms }) => ms ?? []);
  if (answered.length === 0) return dns.fail("name servers", found || "none is configured", advice);
  if (answered.length < answers.length || Math.max(...answered) > DNS_SLOW_MS)
    return dns.warn("name servers", found, advice);
  return dns.ok("name servers", found);
}

/** Even a negative answer shows that the server works. */
async function ask(server: string): Promise<ServerAnswer> {
  const resolver = new Resolver({ timeout: DNS_MS / 2, tries: 1 });
  const askedAtMs = performance.now();
  try {
    resolver.setServers([server]);
    await resolver.resolve4(ANY_NAME);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!["ENOTFOUND", "ENODATA"].includes(code)) return { server, ms: null };
  }
  return { server, ms: Math.round(performance.now() - askedAtMs) };
}

async function nameServers({ DNS_SERVERS }: Config): Promise<Finding[]> {
  const servers = DNS_SERVERS ? await serverAddresses(DNS_SERVERS) : getServers();
  return [nameServerFinding(await Promise.all(servers.slice(0, 5).map(ask)))];
}

/** Checks that readers can resolve the host of links in mails; only asks the DNS and connects to nothing. */
async function baseUrlName({ BASE_URL, DNS_SERVERS }: Config): Promise<Finding[]> {
  const host = new URL(BASE_URL).hostname;
  if (isLocalHost(host)) return [dns.ok("name of BASE_URL", `${host} is not a public DNS name`)];
  const lookups = new Lookups(DNS_MS, DNS_SERVERS ? await serverAddresses(DNS_SERVERS) : undefined);
  const answer = await lookups.addresses(host);
  const advice = "Publish an address record for it: the links of all mails lead there.";
  if (answer.is === "found") return [dns.ok("name of BASE_URL", `${host} is ${answer.records.slice(0, 3).join(", ")}`)];
  if (answer.is === "none") return [dns.fail("name of BASE_URL", `${host} has no address`, advice)];
  return [dns.warn("name of BASE_URL", `${host}: ${answer.why}`, "Try again when the name servers answer.")];
}

export function diskFinding(check: string, path: string, { free, size }: { free: number; size: number }): Finding {
  const found = `${sizeText(free)} of ${sizeText(size)} free at ${path}`;
  const advice = "Free some space or enlarge the disk: writes fail when it is full.";
  if (free < NOTHING_BYTES) return machine.fail(check, found, advice);
  if (free < LITTLE_BYTES && free < LITTLE_SHARE * size) return machine.warn(check, found, advice);
  return machine.ok(check, found);
}

async function disk(check: string, path: string): Promise<Finding[]> {
  const { bavail, blocks, bsize } = await statfs(path);
  return [diskFinding(check, path, { free: bavail * bsize, size: blocks * bsize })];
}

export function machineChecks(settings: Config): Check[] {
  const check = (area: string, name: string, work: () => Promise<Finding[]>, advice: string): Check => ({
    area,
    check: name,
    advice,
    work,
  });
  const unreadable = "Give the process read access to the folder.";
  return [
    check("DNS", "name servers", () => nameServers(settings), "Correct DNS_SERVERS: host[:port], comma separated."),
    check("DNS", "name of BASE_URL", () => baseUrlName(settings), "Try again when the name servers answer."),
    // Skipped with an external database: the process then stores nothing there.
    ...(settings.DATABASE_URL === undefined
      ? [check("machine", "DATA_DIR", () => disk("DATA_DIR", settings.DATA_DIR), unreadable)]
      : []),
    check("machine", "uploads", () => disk("uploads", tmpdir()), unreadable),
  ];
}
