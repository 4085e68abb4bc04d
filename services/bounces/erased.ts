/** Removes addresses, diagnostics and the original message from reports about erased persons before they are stored. */
import { erasedAmong } from "../../models/statements/erased-addresses.ts";
import type { IncomingReport } from "./incoming-report.ts";
import type { Verdict } from "./verdict.ts";

const addressesOf = ({ recipient, otherRecipients = [] }: Verdict): string[] => [
  ...(recipient === null ? [] : [recipient]),
  ...otherRecipients,
];

const nameless = ({ kind, reason, statusCode }: Verdict): Verdict => ({
  kind,
  reason,
  statusCode,
  recipient: null,
  isErased: true,
  diagnostic: null,
});

export async function withoutErased(reports: readonly IncomingReport[]): Promise<IncomingReport[]> {
  const byCompany = Map.groupBy(reports, ({ companyId }) => companyId);
  const erased = new Map<string, ReadonlySet<string>>();
  for (const [companyId, incoming] of byCompany) {
    const addresses = incoming.flatMap(({ report }) => report.verdicts.flatMap(addressesOf));
    erased.set(companyId, await erasedAmong(companyId, addresses));
  }
  return reports.map((incoming) => {
    const theirs = erased.get(incoming.companyId)!;
    const isErased = (verdict: Verdict) => addressesOf(verdict).some((address) => theirs.has(address));
    if (theirs.size === 0 || !incoming.report.verdicts.some(isErased)) return incoming;
    const verdicts = incoming.report.verdicts.map((verdict) => (isErased(verdict) ? nameless(verdict) : verdict));
    return { ...incoming, raw: undefined, report: { ...incoming.report, verdicts } };
  });
}
