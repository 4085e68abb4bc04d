/** What comes back of a person who was erased is listed without address, words and message: nothing of it is kept. */
import { erasedAmong } from "../../models/statements/erased-addresses.ts";
import type { Arrival } from "./arrival.ts";
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

export async function withoutErased(arrivals: readonly Arrival[]): Promise<Arrival[]> {
  const byCompany = Map.groupBy(arrivals, ({ companyId }) => companyId);
  const erased = new Map<string, ReadonlySet<string>>();
  for (const [companyId, own] of byCompany) {
    const addresses = own.flatMap(({ report }) => report.verdicts.flatMap(addressesOf));
    erased.set(companyId, await erasedAmong(companyId, addresses));
  }
  return arrivals.map((arrival) => {
    const theirs = erased.get(arrival.companyId)!;
    const isErased = (verdict: Verdict) => addressesOf(verdict).some((address) => theirs.has(address));
    if (theirs.size === 0 || !arrival.report.verdicts.some(isErased)) return arrival;
    const verdicts = arrival.report.verdicts.map((verdict) => (isErased(verdict) ? nameless(verdict) : verdict));
    return { ...arrival, raw: undefined, report: { ...arrival.report, verdicts } };
  });
}
