/** Validates `domain_limits` of an SMTP configuration and converts them for storage. Pure. */
import type { DomainLimit } from "../../../models/smtp-config.ts";
import { asciiDomain } from "../../lib/address.ts";

interface GivenLimit {
  domain: string;
  max_per_minute?: number | null;
  max_connections?: number | null;
}

export type GivenLimits = readonly GivenLimit[] | null;

/** Returns one error per invalid entry, with its position. */
export function limitErrors(given: readonly GivenLimit[]): string[] {
  const domains = new Set<string>();
  return given.flatMap(({ domain, max_per_minute, max_connections }, n) => {
    const name = asciiDomain(domain);
    const errors: string[] = [];
    if (!name) errors.push("domain: Enter a valid domain name.");
    else if (domains.has(name)) errors.push(`domain: ${name} stands in the list already.`);
    else domains.add(name);
    if (max_per_minute == null && max_connections == null) errors.push("Set max_per_minute, max_connections or both.");
    return errors.map((error) => `Item at index ${n}: ${error}`);
  });
}

export const storedLimits = (given: GivenLimits): DomainLimit[] =>
  (given ?? []).map(({ domain, max_per_minute, max_connections }) => ({
    domain: asciiDomain(domain)!,
    ...(max_per_minute == null ? {} : { max_per_minute }),
    ...(max_connections == null ? {} : { max_connections }),
  }));
