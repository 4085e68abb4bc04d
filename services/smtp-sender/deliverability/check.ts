/** A check of the deliverability report, with advice for the user. */

import type { CheckFailure } from "../../../models/smtp-config.ts";

type CheckStatus = "pass" | "warn" | "fail" | "unknown";

export interface Check {
  name: CheckFailure["name"];
  status: CheckStatus;
  /** Value found in the DNS or the configuration; null if there is none. */
  found: string | string[] | Record<string, unknown> | null;
  /** Expected value, ready to be published. */
  expected: string | string[] | Record<string, unknown> | null;
  /** Null if the check passes. */
  help: string | null;
}

/** Statuses from best to worst; `unknown` is less severe than a known fault. */
const GRAVITY: readonly CheckStatus[] = ["pass", "unknown", "warn", "fail"];

export interface Finding {
  status: CheckStatus;
  help: string;
}

/** The most severe finding decides the status; its sentences come first. */
export function conclude(findings: readonly Finding[]): { status: CheckStatus; help: string | null } {
  const sorted = findings.toSorted((a, b) => GRAVITY.indexOf(b.status) - GRAVITY.indexOf(a.status));
  return {
    status: sorted[0]?.status ?? "pass",
    help: sorted.length > 0 ? sorted.map(({ help }) => help).join(" ") : null,
  };
}

export const dnsUnknown = (name: string, why: string): Finding => ({
  status: "unknown",
  help: `${name} could not be looked up: ${why}. Try again later.`,
});
