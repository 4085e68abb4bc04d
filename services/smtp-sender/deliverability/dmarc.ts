/** Checks DMARC (RFC 7489) of the From domain and the alignment of SPF and DKIM with it. */
import { getDomain } from "tldts";
import type { Lookups } from "../../lib/dns-lookups.ts";
import { type Check, conclude, dnsUnknown, type Finding } from "./check.ts";
import { parseTags } from "./tags.ts";

/** Organisational domain by the public suffix list. A single label or a suffix is its own. */
const organisationalDomain = (domain: string): string => getDomain(domain) ?? domain;

export interface Policy {
  /** Domain where the record was found: the From domain or its organisational domain. */
  domain: string;
  isStrictSpf: boolean;
  isStrictDkim: boolean;
}

const POLICIES = new Set(["none", "quarantine", "reject"]);

const expectedRecord = (domain: string) => ({ name: `_dmarc.${domain}`, value: "v=DMARC1; p=none" });

const isDmarc = (text: string) => /^v\s*=\s*DMARC1\s*(?:;|$)/.test(text);

function fault(tags: Map<string, string> | undefined): string | undefined {
  if (!tags) return "The DMARC record cannot be read.";
  const policy = tags.get("p")?.toLowerCase();
  if (policy === undefined) return "The DMARC record has no policy (p=).";
  if (!POLICIES.has(policy)) return `The DMARC record has a policy that does not exist (p=${policy}).`;
  for (const name of ["aspf", "adkim"]) {
    const value = tags.get(name)?.toLowerCase();
    if (value !== undefined && value !== "r" && value !== "s")
      return `The DMARC record has a wrong ${name} (${value}).`;
  }
  const [subdomains, share] = [tags.get("sp")?.toLowerCase(), tags.get("pct")];
  if (subdomains !== undefined && !POLICIES.has(subdomains)) return `The DMARC record has a wrong sp (${subdomains}).`;
  if (share !== undefined && !/^(?:100|\d{1,2})$/.test(share)) return `The DMARC record has a wrong pct (${share}).`;
  return undefined;
}

/** `policy` is undefined if no valid one exists. */
export async function checkDmarc(dns: Lookups, from: string): Promise<{ check: Check; policy?: Policy }> {
  for (const domain of new Set([from, organisationalDomain(from)])) {
    const answer = await dns.txt(`_dmarc.${domain}`);
    if (answer.is === "unknown") {
      const unknown = conclude([dnsUnknown(`_dmarc.${domain}`, answer.why)]);
      return { check: { name: "dmarc", found: null, expected: null, ...unknown } };
    }
    const records = answer.is === "found" ? answer.records.filter(isDmarc) : [];
    if (records.length === 0) continue;
    const expected = expectedRecord(domain);
    if (records.length > 1) {
      const help = `_dmarc.${domain} has ${records.length} DMARC records, so none of them holds: leave one.`;
      return { check: { name: "dmarc", status: "fail", found: records, expected, help } };
    }
    const tags = parseTags(records[0]!);
    const problem = fault(tags);
    if (problem) {
      const help = `${problem} Receivers act as if there were none: publish one as shown.`;
      return { check: { name: "dmarc", status: "fail", found: records[0]!, expected, help } };
    }
    return {
      check: { name: "dmarc", status: "pass", found: records[0]!, expected: null, help: null },
      policy: {
        domain,
        isStrictSpf: tags!.get("aspf")?.toLowerCase() === "s",
        isStrictDkim: tags!.get("adkim")?.toLowerCase() === "s",
      },
    };
  }
  const help =
    "There is no DMARC record. Gmail and Yahoo require one from bulk senders. Publish it as shown and make it stricter later.";
  return { check: { name: "dmarc", status: "warn", found: null, expected: expectedRecord(from), help } };
}

interface AlignmentInput {
  from: string;
  envelope: string;
  spf: Check;
  signatures: readonly { domain: string; check: Check }[];
  policy: Policy | undefined;
}

const aligned = (domain: string, from: string, isStrict: boolean) =>
  domain === from || (!isStrict && organisationalDomain(domain) === organisationalDomain(from));

/** Either alignment is enough (RFC 7489 section 3.1); refused or missing records align nothing. */
export function checkAlignment({ from, envelope, spf, signatures, policy }: AlignmentInput): Check {
  const serves = ({ status, found }: Check) => status !== "fail" && found !== null;
  const spfAligned = aligned(envelope, from, policy?.isStrictSpf ?? false);
  const dkimAligned = signatures.filter(({ domain }) => aligned(domain, from, policy?.isStrictDkim ?? false));
  const bySpf = spfAligned && serves(spf);
  const byDkim = dkimAligned.some(({ check }) => serves(check));
  const found = {
    from,
    spf: bySpf ? envelope : null,
    dkim: byDkim ? [...new Set(dkimAligned.map(({ domain }) => domain))] : [],
  };
  const isOpen = [spf, ...signatures.map(({ check }) => check)].some(({ status }) => status === "unknown");
  const findings: Finding[] = [];
  if (!bySpf && !byDkim) {
    const help = `Neither SPF nor DKIM matches ${from}: sign with a key of ${from}.`;
    findings.push({ status: isOpen ? "unknown" : policy ? "fail" : "warn", help });
  } else if (!byDkim) {
    const help = `Only SPF authenticates ${from}, and forwarding breaks SPF. Also sign with a DKIM key of ${from}.`;
    findings.push({ status: isOpen ? "unknown" : "warn", help });
  }
  return { name: "alignment", found, expected: null, ...conclude(findings) };
}
