/** Results of recipients whose lease was lost before they could be written (models/statements/record-late-outcomes.ts). */
import { query } from "../../../models/database/db.ts";
import type { PinnedConnection } from "../../../models/database/pinned-connection.ts";
import { NEVER_LEFT, RECORD_AGAIN, RECORD_LATE } from "../../../models/statements/record-late-outcomes.ts";
import { lateValues } from "./record-statement.ts";
import type { LeasedChunk, RecordedResult } from "./recorded-result.ts";

export interface LateReport {
  /** Campaigns whose counts have changed: they may be complete now. */
  campaignIds: readonly string[];
  webhookCompanyIds: readonly string[];
}

export const NOTHING_LATE: LateReport = { campaignIds: [], webhookCompanyIds: [] };

interface Answer {
  campaign_ids: string[] | null;
  webhook_company_ids: string[] | null;
}

async function write(connection: PinnedConnection, name: string, text: string, values: unknown[]): Promise<LateReport> {
  const [answer] = await connection.run<Answer>(name, text, values);
  return { campaignIds: answer!.campaign_ids ?? [], webhookCompanyIds: answer!.webhook_company_ids ?? [] };
}

/** Settles those that nobody else has settled meanwhile. */
export const writeLateResults = (connection: PinnedConnection, results: readonly RecordedResult[]) =>
  write(connection, "record-late", RECORD_LATE, lateValues(results));

/** Writes results of a lost transaction (RecentResults) where their rows are as they were before it. */
export const writeResultsAgain = (connection: PinnedConnection, values: unknown[]) =>
  write(connection, "record-again", RECORD_AGAIN, values);

/** Every result of the lost lease has been written: who is in doubt by it has not left. Returns how many are queued again. */
export async function queueNeverLeft({ companyId, campaignId, no, fence }: LeasedChunk): Promise<number> {
  const rows = await query<{ queued: number }>(NEVER_LEFT, [companyId, campaignId, no, fence]);
  return rows[0]!.queued;
}
