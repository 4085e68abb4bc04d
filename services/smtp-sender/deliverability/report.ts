/**
 * Finds what a receiver would object to in mail of an SMTP configuration, before any is sent. Nothing is cached,
 * because people check after changes.
 */
import type { SmtpConfig } from "../../../models/smtp-config.ts";
import { activeTrackingDomain } from "../../../models/statements/tracking-domains.ts";
import { asciiDomain, domainOf } from "../../lib/address.ts";
import { configuredLookups, type Lookups } from "../../lib/dns-lookups.ts";
import { linksBase } from "../../lib/links-base.ts";
import { withTimeout } from "../../lib/timeouts.ts";
import { isReplacedBy, isSeen } from "../dkim/activation.ts";
import { type ConfigKey, privateKeyOf } from "../dkim/key-set.ts";
import type { Check } from "./check.ts";
import { checkDkim, NO_SIGNATURE, waiting } from "./dkim-key.ts";
import { checkAlignment, checkDmarc, type Policy } from "./dmarc.ts";
import { checkBounceAddress, checkLinks, checkMx } from "./hosts.ts";
import { checkSpf } from "./spf.ts";

/** Total time; the API promises 5 s. */
const TOTAL_MS = 4_800;
/** Time of one look-up including its retry. */
const LOOKUP_MS = 3_000;

const domain = (name: string): string => (asciiDomain(name) ?? name).toLowerCase();

/** Result of a check that takes too long; the other checks do not wait for it. */
const late = (name: Check["name"]): Check => ({
  name,
  status: "unknown",
  found: null,
  expected: null,
  help: "DNS did not answer in time. Try again later.",
});

interface KeyCheck {
  key: ConfigKey;
  check: Check;
  /** The key was waiting for its record, which has been found. */
  isNew: boolean;
}

async function checked(dns: Lookups, key: ConfigKey): Promise<KeyCheck> {
  let privateKey: string;
  try {
    privateKey = privateKeyOf(key);
  } catch {
    const check = { ...late("dkim"), help: "The stored DKIM key can no longer be read. Enter it again." };
    return { key, check, isNew: false };
  }
  const { domain, selector, isActive } = key;
  const check = await checkDkim(dns, { domain, selector, privateKey });
  if (isActive) return { key, check, isNew: false };
  return isSeen(check) ? { key, check, isNew: true } : { key, check: waiting(check), isNew: false };
}

export interface Report {
  /** Checks in the order in which a user would fix them. */
  checks: Check[];
  /** Ids of waiting keys that may become active. */
  seen: string[];
}

/** `keys`: all keys of the configuration. */
export async function deliverability(stored: SmtpConfig, keys: readonly ConfigKey[]): Promise<Report> {
  const linksHost = await activeTrackingDomain(stored.companyId);
  const dns = await configuredLookups(LOOKUP_MS);
  const inTime = <T>(work: Promise<T>, otherwise: T): Promise<T> =>
    withTimeout(work, TOTAL_MS, () => new Error("late")).catch((error: Error) => {
      if (error.message === "late") return otherwise;
      throw error;
    });
  try {
    const from = domain(domainOf(stored.senderEmail));
    const envelope = domain(domainOf(stored.bounceAddress ?? stored.senderEmail));
    const relay = dns.addresses(stored.host).then((answer) => (answer.is === "found" ? answer.records : []));
    const [spf, ofKeys, dmarc, mx, links, bounce] = await Promise.all([
      inTime(
        relay.then((relayAddresses) => checkSpf(dns, { domain: envelope, relayHost: stored.host, relayAddresses })),
        late("spf"),
      ),
      Promise.all(keys.map((key) => inTime(checked(dns, key), { key, check: late("dkim"), isNew: false }))),
      inTime<{ check: Check; policy?: Policy }>(checkDmarc(dns, from), { check: late("dmarc") }),
      inTime(checkMx(dns, from), late("mx")),
      inTime(checkLinks(dns, linksBase(linksHost)), late("links")),
      inTime(checkBounceAddress(dns, stored.bounceAddress, envelope), late("bounce_address")),
    ]);
    const newKeys = ofKeys.filter(({ isNew }) => isNew).map(({ key }) => key);
    const isReplaced = isReplacedBy(newKeys);
    const keptKeys = ofKeys.filter(({ key }) => !isReplaced(key));
    const signatures = keptKeys
      .filter(({ key }) => key.isActive || newKeys.includes(key))
      .map(({ key, check }) => ({ domain: domain(key.domain), check }));
    const dkim = keptKeys.length > 0 ? keptKeys.map(({ check }) => check) : [NO_SIGNATURE];
    const alignment = checkAlignment({ from, envelope, spf, signatures, policy: dmarc.policy });
    return { seen: newKeys.map(({ id }) => id), checks: [spf, ...dkim, dmarc.check, alignment, mx, links, bounce] };
  } finally {
    dns.close();
  }
}
