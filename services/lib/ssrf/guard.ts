/**
 * Prevents server-side request forgery: resolves a host once, checks every address, and returns the addresses to
 * connect to, so that a second DNS answer cannot change anything.
 */
import { lookup, Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { asciiHost } from "../address.ts";
import { config } from "../config.ts";
import { withTimeout } from "../timeouts.ts";
import { isPublicAddress, literalAddress } from "./address-range.ts";
import { type AllowedHosts, allowsAddress, allowsName, parseAllowedHosts } from "./allowed-hosts.ts";

export interface PinnedAddress {
  address: string;
  family: 4 | 6;
}

type Resolve = (host: string) => Promise<string[]>;

/** `refused`: not a public address, a retry changes nothing. `dns`: no address this time, a retry may find one. */
export class HostError extends Error {
  readonly reason: "refused" | "dns";

  constructor(reason: "refused" | "dns", sentence: string) {
    super(sentence);
    this.name = "HostError";
    this.reason = reason;
  }
}

/** Advice for users whose own server may be refused. */
export const PERMIT_HELP =
  "The operator of this service can allow it with ALLOWED_PRIVATE_HOSTS, or all private networks with ALLOW_PRIVATE_NETWORKS.";

const DNS_TIMEOUT_MS = 4_000;

const pinned = (address: string): PinnedAddress => ({ address, family: isIP(address) as 4 | 6 });

/**
 * Asks the DNS directly instead of getaddrinfo, which runs on four threads shared by the process: four dead name
 * servers of one tenant would block everybody's connections. `servers`: replace the system's.
 */
export async function askDns(host: string, servers?: readonly string[]): Promise<string[]> {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS / 2, tries: 2 });
  if (servers) resolver.setServers(servers);
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  if (found.length === 0) throw (answers[0] as PromiseRejectedResult).reason;
  return found;
}

const askSystem = async (host: string) => (await lookup(host, { all: true })).map(({ address }) => address);

/** Also asks the system's resolver, because names of private networks may be in /etc/hosts or a search domain. */
async function askBoth(host: string): Promise<string[]> {
  if (!host.includes(".")) return askSystem(host);
  return askDns(host).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ETIMEOUT") throw error;
    return askSystem(host);
  });
}

let permitted: { text: string | undefined; hosts: AllowedHosts } | undefined;

function permittedHosts(): AllowedHosts {
  const { ALLOWED_PRIVATE_HOSTS: text } = config();
  if (!permitted || permitted.text !== text) permitted = { text, hosts: parseAllowedHosts(text ?? "")! };
  return permitted.hosts;
}

/** True if the operator permits this private host by its spelling alone. */
export function isPermittedHost(host: string, hosts = permittedHosts()): boolean {
  const literal = literalAddress(host);
  return literal === null ? allowsName(hosts, host) : allowsAddress(hosts, literal);
}

/** Resolves a host to checked addresses. Throws HostError with a sentence for the user. */
export async function resolvePublic(
  host: string,
  { allowPrivate: allAllowed, ...options }: { allowPrivate: boolean; resolve?: Resolve; permitted?: AllowedHosts },
): Promise<PinnedAddress[]> {
  const hosts = options.permitted ?? permittedHosts();
  const allowPrivate = allAllowed || isPermittedHost(host, hosts);
  const ascii = literalAddress(host) ?? asciiHost(host.trim().replace(/\.$/, ""));
  if (ascii === null) throw new HostError("refused", `The host ${host} is not a valid host name.`);
  if (!allowPrivate && /(^|\.)localhost$/.test(ascii)) {
    throw new HostError("refused", `The host ${host} is not on the public internet.`);
  }
  const literal = literalAddress(ascii);
  const ask = options.resolve ?? (allowPrivate ? askBoth : (name) => askDns(name));
  let addresses: string[];
  if (literal) {
    addresses = [literal];
  } else {
    const noAnswer = () => new Error("time-out");
    addresses = await withTimeout(ask(ascii), DNS_TIMEOUT_MS + 1_000, noAnswer).catch(
      (error: NodeJS.ErrnoException) => {
        throw new HostError("dns", `The host name ${host} cannot be resolved (${error.code ?? error.message}).`);
      },
    );
  }
  if (addresses.length === 0) throw new HostError("dns", `The host name ${host} has no address.`);
  const mayUse = (address: string) => allowPrivate || isPublicAddress(address) || allowsAddress(hosts, address);
  const refused = addresses.find((address) => !mayUse(address));
  if (refused) throw new HostError("refused", `The host ${host} is not on the public internet (${refused}).`);
  return addresses.map(pinned);
}
