/** What a receiver would find wrong with the mail of an SMTP configuration, before any is sent. Nothing is cached: it is asked for after changes. */
import type { SmtpConfig } from "../../../models/smtp-config.ts";
import { activeTrackingDomain } from "../../../models/statements/tracking-domains.ts";
import { asciiDomain, domainOf } from "../../lib/address.ts";
import { config } from "../../lib/config.ts";
import { Lookups, serverAddresses } from "../../lib/dns-lookups.ts";
import { linksBase } from "../../lib/links-base.ts";
import { unseal } from "../../lib/secrets.ts";
import { withTimeout } from "../../lib/timeouts.ts";
import type { Check } from "./check.ts";
import { checkDkim, NO_SIGNATURE, type Signature } from "./dkim-key.ts";
import { checkAlignment, checkDmarc, type Policy } from "./dmarc.ts";
import { checkBounceAddress, checkLinks, checkMx } from "./hosts.ts";
import { checkSpf } from "./spf.ts";

/** All of it, as clients were promised 5 s. */
const TOTAL_MS = 4_800;
/** Of one look-up with its second try. */
const LOOKUP_MS = 3_000;

const domain = (name: string): string => (asciiDomain(name) ?? name).toLowerCase();

/** What cannot be said in time; other checks are not kept waiting by it. */
const late = (name: Check["name"]): Check => ({
  name,
  status: "unknown",
  found: null,
  expected: null,
  help: "The DNS did not answer in time. Try again later.",
});

async function signatureCheck(dns: Lookups, stored: SmtpConfig): Promise<Check> {
  let privateKey: string;
  try {
    privateKey = unseal(stored.dkimKeySealed!, stored.id);
  } catch {
    return { ...late("dkim"), help: "The stored DKIM key cannot be read any more. Give it again." };
  }
  const signature: Signature = { domain: stored.dkimDomain!, selector: stored.dkimSelector ?? "", privateKey };
  return checkDkim(dns, signature);
}

/** The checks in the order in which a user would repair them. */
export async function deliverability(stored: SmtpConfig): Promise<{ checks: Check[] }> {
  const { DNS_SERVERS } = config();
  const linksHost = await activeTrackingDomain(stored.companyId);
  const dns = new Lookups(LOOKUP_MS, DNS_SERVERS ? await serverAddresses(DNS_SERVERS) : undefined);
  const inTime = <T>(work: Promise<T>, otherwise: T): Promise<T> =>
    withTimeout(work, TOTAL_MS, () => new Error("late")).catch((error: Error) => {
      if (error.message === "late") return otherwise;
      throw error;
    });
  try {
    const from = domain(domainOf(stored.senderEmail));
    const envelope = domain(domainOf(stored.bounceAddress ?? stored.senderEmail));
    const isSigned = stored.dkimDomain !== null && stored.dkimKeySealed !== null;
    const relay = dns.addresses(stored.host).then((answer) => (answer.is === "found" ? answer.records : []));
    const [spf, dkim, dmarc, mx, links, bounce] = await Promise.all([
      inTime(
        relay.then((relayAddresses) => checkSpf(dns, { domain: envelope, relayHost: stored.host, relayAddresses })),
        late("spf"),
      ),
      isSigned ? inTime(signatureCheck(dns, stored), late("dkim")) : NO_SIGNATURE,
      inTime<{ check: Check; policy?: Policy }>(checkDmarc(dns, from), { check: late("dmarc") }),
      inTime(checkMx(dns, from), late("mx")),
      inTime(checkLinks(dns, linksBase(linksHost)), late("links")),
      inTime(checkBounceAddress(dns, stored.bounceAddress, envelope), late("bounce_address")),
    ]);
    const signatures = isSigned ? [{ domain: domain(stored.dkimDomain!), check: dkim }] : [];
    const alignment = checkAlignment({ from, envelope, spf, signatures, policy: dmarc.policy });
    return { checks: [spf, dkim, dmarc.check, alignment, mx, links, bounce] };
  } finally {
    dns.close();
  }
}
