/**
 * Checks SPF (RFC 7208) of the envelope domain: whether receivers can evaluate its record for any sending address. The
 * relay's own address is judged only if the record names it, because a relay may send from other addresses.
 */
import { isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";
import { asciiDomain } from "../../lib/address.ts";
import type { Lookups } from "../../lib/dns-lookups.ts";
import { isPublicAddress, literalAddress } from "../../lib/ssrf/address-range.ts";
import { isLocalHost } from "../../lib/ssrf/local-host.ts";
import { type Check, conclude, dnsUnknown, type Finding } from "./check.ts";

/** RFC 7208 section 4.6.4. */
const MAX_LOOKUPS = 10;
const MAX_VOIDS = 2;
/** Limit after which no further query is sent: the record has already failed. */
const STOP_AT = 40;
const MAX_MX_NAMES = 10;

type Qualifier = "+" | "-" | "~" | "?";

interface Term {
  text: string;
  qualifier: Qualifier;
  mechanism: string;
  /** Value after the colon, or after the equals sign of `redirect`. */
  value: string | undefined;
  cidr4: number;
  cidr6: number;
}

const DIRECTIVE =
  /^([+\-~?]?)(all|include|a|mx|ptr|ip4|ip6|exists)(?::([^/\s]+))?(\/(?:0|[1-9]\d{0,2}))?(\/\/(?:0|[1-9]\d{0,2}))?$/i;
const MODIFIER = /^([a-z][a-z0-9_.-]*)=(\S*)$/i;
const NEEDS_VALUE = new Set(["include", "ip4", "ip6", "exists"]);
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i;

/** Requires at least two labels, the last one not a number: `a:192.0.2.1` has an address where a name belongs. */
function isDomain(name: string): boolean {
  const labels = name.replace(/\.$/, "").split(".");
  return (
    name.length <= 253 &&
    labels.length > 1 &&
    labels.every((label) => LABEL.test(label)) &&
    !/^\d+$/.test(labels.at(-1)!)
  );
}
const hasMacro = (text: string) => text.includes("%");
const MACROS = /%(?:%|_|-|\{[slodiphv]\d*r?[.\-+,/_=]*\})/gi;

/** Undefined for a modifier that can be ignored; a string is an error. */
function parseTerm(text: string): Term | string | undefined {
  if (hasMacro(text) && text.replace(MACROS, "").includes("%")) return `"${text}" has a macro that does not exist`;
  const modifier = MODIFIER.exec(text);
  if (modifier) {
    const name = modifier[1]!.toLowerCase();
    if (name !== "redirect" && name !== "exp") return undefined;
    if (!hasMacro(text) && !isDomain(modifier[2]!)) return `"${text}" names no domain`;
    if (name === "exp") return undefined;
    return { text, qualifier: "+", mechanism: "redirect", value: modifier[2]!, cidr4: 32, cidr6: 128 };
  }
  const [, qualifier, name, value, cidr4, cidr6] = DIRECTIVE.exec(text) ?? [];
  if (!name) return `"${text}" is no SPF term`;
  const mechanism = name.toLowerCase();
  const term: Term = {
    text,
    qualifier: (qualifier || "+") as Qualifier,
    mechanism,
    value,
    cidr4: cidr4 ? Number(cidr4.slice(1)) : 32,
    cidr6: cidr6 ? Number(cidr6.slice(2)) : 128,
  };
  if (NEEDS_VALUE.has(mechanism) && !value) return `"${text}" says nothing behind "${mechanism}"`;
  if (mechanism === "all" && (value || cidr4 || cidr6)) return `"${text}" may have nothing behind "all"`;
  if (mechanism === "ip4" || mechanism === "ip6") return parseAddress(term, cidr4, cidr6);
  if ((cidr4 || cidr6) && mechanism !== "a" && mechanism !== "mx") return `"${text}" may have no network length`;
  if (term.cidr4 > 32 || term.cidr6 > 128) return `"${text}" has a network length that does not exist`;
  if (value && !hasMacro(value) && !isDomain(value)) return `"${text}" names no domain`;
  return term;
}

function parseAddress(term: Term, cidr4: string | undefined, cidr6: string | undefined): Term | string {
  const is4 = term.mechanism === "ip4";
  const valid = is4 ? ipaddr.IPv4.isValidFourPartDecimal(term.value!) : ipaddr.IPv6.isValid(term.value!);
  // A single slash in an IPv6 address is its prefix length.
  const length = is4 ? term.cidr4 : cidr4 ? Number(cidr4.slice(1)) : 128;
  if (!valid || cidr6 || length > (is4 ? 32 : 128)) return `"${term.text}" is no ${is4 ? "IPv4" : "IPv6"} network`;
  return { ...term, [is4 ? "cidr4" : "cidr6"]: length };
}

function within(address: string, network: string, { cidr4, cidr6 }: Term): boolean {
  const [one, other] = [ipaddr.process(address), ipaddr.process(network)];
  return one.kind() === other.kind() && one.match(other, one.kind() === "ipv4" ? cidr4 : cidr6);
}

class SpfEvaluation {
  lookups = 0;
  readonly voids = new Set<string>();
  readonly findings: Finding[] = [];
  readonly unknown: Finding[] = [];
  readonly #dns: Lookups;
  readonly #relay: readonly string[];

  constructor(dns: Lookups, relay: readonly string[]) {
    this.#dns = dns;
    this.#relay = relay;
  }

  fail(help: string): undefined {
    this.findings.push({ status: "fail", help });
    return undefined;
  }

  /** The single SPF record of a domain; undefined, with a finding, if none is valid. */
  async record(domain: string, path: readonly string[]): Promise<string | undefined> {
    const answer = await this.#dns.txt(domain);
    if (answer.is === "unknown") {
      this.unknown.push(dnsUnknown(domain, answer.why));
      return undefined;
    }
    const records = answer.is === "found" ? answer.records.filter((text) => /^v=spf1(?: |$)/i.test(text)) : [];
    if (records.length === 1) return records[0];
    if (records.length > 1)
      return this.fail(`${domain} has ${records.length} SPF records where one is allowed: join them.`);
    if (path.length === 0) return undefined;
    return this.fail(`The record includes ${domain}, which has no SPF record: every check ends in an error there.`);
  }

  /** Qualifier of the mechanism that matches the relay's addresses by name; undefined if only `all` would match. */
  async domain(domain: string, record: string, path: readonly string[]): Promise<Qualifier | undefined> {
    const terms = record.trim().split(/ +/).slice(1).map(parseTerm);
    for (const fault of terms.filter((term) => typeof term === "string")) {
      this.fail(`Syntax error in the SPF record of ${domain}: ${fault}.`);
    }
    for (const name of ["redirect", "exp"]) {
      const times = record.split(" ").filter((text) => text.toLowerCase().startsWith(`${name}=`)).length;
      if (times > 1) this.fail(`Syntax error in the SPF record of ${domain}: "${name}=" may stand there once.`);
    }
    const parsed = terms.filter((term) => typeof term === "object");
    const all = parsed.find(({ mechanism }) => mechanism === "all");
    if (path.length === 0) this.judgeEnd(all, parsed);
    let matched: Qualifier | undefined;
    for (const term of parsed) {
      // Nothing after `all` is evaluated, and `redirect` is used only without `all`.
      if (term === all || this.lookups > STOP_AT) break;
      if (term.mechanism === "redirect" && all) continue;
      // Continues after a match: mail from another address needs the remaining look-ups.
      const says = await this.term(term, domain, [...path, domain.toLowerCase()]);
      matched ??= says;
    }
    return matched;
  }

  judgeEnd(all: Term | undefined, terms: readonly Term[]): void {
    if (all?.qualifier === "+") {
      this.fail(`"${all.text}" lets the whole world send in this name. End the record with "~all" or "-all".`);
    } else if (!all && !terms.some(({ mechanism }) => mechanism === "redirect")) {
      this.findings.push({
        status: "warn",
        help: 'The SPF record has no "all" at its end, so it forbids nothing. Add "~all" or "-all".',
      });
    }
  }

  async term(term: Term, domain: string, path: readonly string[]): Promise<Qualifier | undefined> {
    const { mechanism, value, qualifier } = term;
    if (mechanism === "ip4" || mechanism === "ip6") {
      return this.#relay.some((address) => within(address, value!, term)) ? qualifier : undefined;
    }
    this.lookups++;
    // A macro depends on the address and sender of an email, which do not exist here.
    if (mechanism === "ptr" || (value && hasMacro(value))) return undefined;
    const target = (value ?? domain).replace(/\.$/, "");
    if (mechanism === "exists") return (await this.addresses(target, true)).length > 0 ? qualifier : undefined;
    if (mechanism === "include" || mechanism === "redirect") return this.follow(term, target, path);
    const names = mechanism === "mx" ? await this.exchanges(target) : [target];
    const addresses = (await Promise.all(names.map((name) => this.addresses(name, mechanism === "a")))).flat();
    return addresses.some((other) => this.#relay.some((address) => within(address, other, term)))
      ? qualifier
      : undefined;
  }

  async follow(term: Term, target: string, path: readonly string[]): Promise<Qualifier | undefined> {
    if (path.includes(target.toLowerCase())) {
      return this.fail(`The SPF record of ${target} includes itself: ${[...path, target].join(" → ")}.`);
    }
    const record = await this.record(target, path);
    if (record === undefined) return undefined;
    const inner = await this.domain(target, record, path);
    if (term.mechanism === "redirect") return inner;
    return inner === "+" ? term.qualifier : undefined;
  }

  async exchanges(domain: string): Promise<string[]> {
    const answer = await this.#dns.mx(domain);
    if (answer.is === "unknown") this.unknown.push(dnsUnknown(domain, answer.why));
    if (answer.is === "none") this.voids.add(`mx:${domain}`);
    if (answer.is !== "found") return [];
    if (answer.records.length > MAX_MX_NAMES) {
      this.fail(`"mx:${domain}" has ${answer.records.length} mail servers; ${MAX_MX_NAMES} are allowed.`);
    }
    return answer.records.slice(0, MAX_MX_NAMES).map(({ exchange }) => exchange);
  }

  async addresses(name: string, countsAsVoid: boolean): Promise<string[]> {
    const answer = await this.#dns.addresses(name);
    if (answer.is === "unknown") this.unknown.push(dnsUnknown(name, answer.why));
    if (answer.is === "none" && countsAsVoid) this.voids.add(`a:${name}`);
    return answer.is === "found" ? answer.records : [];
  }
}

interface SpfInput {
  /** Domain of the envelope sender. */
  domain: string;
  relayHost: string;
  /** Addresses of the relay, if known. */
  relayAddresses: readonly string[];
}

function judgeRelay(walk: SpfEvaluation, named: Qualifier | undefined, { relayHost }: SpfInput): void {
  if (named === "-") walk.fail(`The record forbids ${relayHost} to send: remove that part.`);
  if (named === "~" || named === "?") {
    walk.findings.push({ status: "warn", help: `The record names ${relayHost} without allowing it: write "+" there.` });
  }
}

/** Addresses to put in a record for the relay; undefined if its public DNS name can be used. */
function addressesOf({ relayHost, relayAddresses }: SpfInput): readonly string[] | undefined {
  const literal = literalAddress(relayHost);
  if (literal !== null) return [ipaddr.process(literal).toString()];
  return isLocalHost(relayHost) || asciiDomain(relayHost) === null ? relayAddresses : undefined;
}

const INTERNAL_RANGES = ["loopback", "private", "linkLocal", "uniqueLocal"];
const isInternal = (address: string): boolean => INTERNAL_RANGES.includes(ipaddr.process(address).range());

/** Record to publish if there is none; null if receivers see neither the relay's name nor its addresses. */
function expectedRecord(asked: SpfInput): { name: string; value: string } | null {
  const addresses = addressesOf(asked);
  const terms = addresses?.map((address) => `${isIPv6(address) ? "ip6" : "ip4"}:${address}`) ?? [
    `a:${asciiDomain(asked.relayHost)}`,
  ];
  return terms.length === 0 || addresses?.some(isInternal)
    ? null
    : { name: asked.domain, value: `v=spf1 ${terms.join(" ")} ~all` };
}

function noRecordHelp(asked: SpfInput): string {
  const help = `${asked.domain} has no SPF record. Publish one that names your relay: its provider says what to write (often an include).`;
  const local = addressesOf(asked)?.find((address) => !isPublicAddress(address));
  return local === undefined
    ? help
    : `${help} Receivers never see ${local}: write the public address that this relay sends from instead.`;
}

/** `found`: null or `{record, lookups}`. */
export async function checkSpf(dns: Lookups, asked: SpfInput): Promise<Check> {
  const { domain } = asked;
  const walk = new SpfEvaluation(dns, asked.relayAddresses);
  const record = await walk.record(domain, []);
  if (record !== undefined) {
    const named = await walk.domain(domain, record, []);
    judgeRelay(walk, named, asked);
  } else if (walk.findings.length === 0 && walk.unknown.length === 0) {
    walk.findings.push({
      status: "warn",
      help: noRecordHelp(asked),
    });
  }
  if (walk.lookups > MAX_LOOKUPS) {
    const many = walk.lookups > STOP_AT ? `more than ${STOP_AT}` : walk.lookups;
    walk.fail(`The record needs ${many} lookups, and ${MAX_LOOKUPS} are allowed: remove unused includes.`);
  }
  if (walk.voids.size > MAX_VOIDS) {
    walk.fail(
      `${walk.voids.size} names in the record have no records where ${MAX_VOIDS} are allowed: ${[...walk.voids].join(", ")}.`,
    );
  } else if (walk.voids.size > 0) {
    walk.findings.push({
      status: "warn",
      help: `The record refers to names without records: ${[...walk.voids].join(", ")}.`,
    });
  }
  return {
    name: "spf",
    found: record === undefined ? null : { record, lookups: walk.lookups },
    expected: record === undefined ? expectedRecord(asked) : null,
    ...conclude([...walk.findings, ...walk.unknown]),
  };
}
