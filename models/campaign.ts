/** A campaign as the API shows it. The table is written by SQL only: see services/campaigns. */
import type { Status } from "./campaign-lifecycle.ts";

export interface CampaignRow {
  id: string;
  name: string;
  campaign_type: "to_list" | "to_receivers" | "custom";
  status: Status;
  total_emails: number;
  sent_count: number;
  failed_count: number;
  scheduled_for: Date | null;
  error: string | null;
  created_at: Date;
  updated_at: Date;
}

/** For a statement whose campaigns have the alias c. */
export const CAMPAIGN_COLUMNS = `c.id, c.name, c.campaign_type, c.status, c.total_emails, c.sent_count, c.failed_count,
  c.scheduled_for, c.error, c.created_at, c.updated_at`;

export const campaignView = (row: CampaignRow) => ({
  id: row.id,
  name: row.name,
  campaign_type: row.campaign_type,
  status: row.status,
  total_emails: row.total_emails,
  sent_count: row.sent_count,
  failed_count: row.failed_count,
  scheduled_for: row.scheduled_for?.toISOString() ?? null,
  error: row.error,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
