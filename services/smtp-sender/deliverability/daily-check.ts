/**
 * Stores a report's failures with the configuration. The report runs daily before the first send, and after each
 * change.
 */
import { queryOne } from "../../../models/database/db.ts";
import { type CheckFailure, SmtpConfig } from "../../../models/smtp-config.ts";
import { domainOf } from "../../lib/address.ts";
import { isReservedDomain } from "../../lib/ssrf/local-host.ts";
import { activate } from "../dkim/activation.ts";
import { keysOf } from "../dkim/key-set.ts";
import type { Check } from "./check.ts";
import { deliverability } from "./report.ts";

// Discards the result if the configuration changed during the check.
const KEEP = `update smtp_configs set checked_at = now(), check_failures = $4
  where company_id = $1 and id = $2 and date_trunc('milliseconds', updated_at) = $3 returning id`;

/** Called when waiting keys start to sign. */
type Activated = (smtpConfigId: string) => Promise<unknown>;

interface KeptReport {
  checks: Check[];
  failures: CheckFailure[];
}

/** Makes a report and stores its failures. A waiting key whose record is found becomes active. */
export async function reportOn(stored: SmtpConfig, activated: Activated): Promise<KeptReport> {
  const { companyId, id } = stored;
  const { checks, seen } = await deliverability(stored, await keysOf(stored));
  const change = seen.length > 0 ? await activate(companyId, id, seen) : undefined;
  if (change) await activated(id);
  const isOurs = change?.before.getTime() === stored.updatedAt.getTime();
  const updatedAt = isOurs ? change!.after : stored.updatedAt;
  const failures = checks
    .filter(({ status }) => status === "fail")
    .map(({ name, help }): CheckFailure => ({ name, help: help ?? "" }));
  await queryOne(KEEP, [companyId, id, updatedAt, JSON.stringify(failures)]);
  return { checks, failures };
}

const dayOf = (at: Date) => at.toISOString().slice(0, 10);

/** Failures of today's report, which is made if necessary. */
export async function failuresOf(companyId: string, id: string, activated: Activated): Promise<CheckFailure[]> {
  const stored = await SmtpConfig.findOne({ where: { companyId, id } });
  if (!stored || isReservedDomain(domainOf(stored.senderEmail))) return [];
  if (stored.checkedAt && dayOf(stored.checkedAt) === dayOf(new Date())) return stored.checkFailures;
  return (await reportOn(stored, activated)).failures;
}
