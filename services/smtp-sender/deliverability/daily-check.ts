/** The report's failures, kept with the configuration: looked up once a day, before the first send, and after each change. */
import { queryOne } from "../../../models/database/db.ts";
import { type CheckFailure, SmtpConfig } from "../../../models/smtp-config.ts";
import { isLocalHost } from "../../lib/ssrf/local-host.ts";
import type { Check } from "./check.ts";
import { deliverability } from "./report.ts";

// Unless the configuration was changed while the DNS was asked: then the answer is about another one.
const KEEP = `update smtp_configs set checked_at = now(), check_failures = $4
  where company_id = $1 and id = $2 and date_trunc('milliseconds', updated_at) = $3 returning id`;

/** A report, whose failures are remembered. */
export async function reportOn(stored: SmtpConfig): Promise<{ checks: Check[]; failures: CheckFailure[] }> {
  const { companyId, id, updatedAt } = stored;
  const { checks } = await deliverability(stored);
  const failures = checks
    .filter(({ status }) => status === "fail")
    .map(({ name, help }): CheckFailure => ({ name, help: help ?? "" }));
  await queryOne(KEEP, [companyId, id, updatedAt, JSON.stringify(failures)]);
  return { checks, failures };
}

const dayOf = (at: Date) => at.toISOString().slice(0, 10);

/** Of today's report, which is made if there is none yet. */
export async function failuresOf(companyId: string, id: string): Promise<CheckFailure[]> {
  const stored = await SmtpConfig.findOne({ where: { companyId, id } });
  if (!stored || isLocalHost(stored.host)) return [];
  if (stored.checkedAt && dayOf(stored.checkedAt) === dayOf(new Date())) return stored.checkFailures;
  return (await reportOn(stored)).failures;
}
