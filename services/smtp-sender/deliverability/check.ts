/** One check of the deliverability report, and what a user can do about it. */

import type { CheckFailure } from "../../../models/smtp-config.ts";

type CheckStatus = "pass" | "warn" | "fail" | "unknown";

export interface Check {
  name: CheckFailure["name"];
  status: CheckStatus;
  /** What the DNS or the configuration says; null where there is nothing. */
  found: string | string[] | Record<string, unknown> | null;
  /** What should be there, ready to be published. */
  expected: string | string[] | Record<string, unknown> | null;
  /** Null where the check passes. */
  help: string | null;
}

/** From best to worst; `unknown` says less than a fault that is known. */
const GRAVITY: readonly CheckStatus[] = ["pass", "unknown", "warn", "fail"];

export interface Finding {
  status: CheckStatus;
  help: string;
}

/** The gravest finding decides; its sentences come first. */
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
