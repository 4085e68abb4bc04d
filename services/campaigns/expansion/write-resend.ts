/**
 * Stores a campaign to the non-openers of another one with a copy of its snapshot, so that later edits have no effect.
 * List and segment stay empty: the audience is defined by `resend_of`.
 */
import { type CampaignRow, type InsertedCampaign, rowOfNew } from "../../../models/campaign.ts";
import { type Client, queryOne } from "../../../models/database/db.ts";

const CAMPAIGN = `
  insert into campaigns as c (id, company_id, name, campaign_type, status, total_emails, template_id, smtp_config_id,
    is_transactional, worker_task_id, api_key_id, resend_of, individual_tracking)
  select $3, f.company_id, $4, f.campaign_type, 'pending', $5, f.template_id, f.smtp_config_id, f.is_transactional, $6, $7, f.id,
    (select k.individual_tracking from companies k where k.id = $1)
  from campaigns f where f.company_id = $1 and f.id = $2
  returning *`;

// Copies all columns, including those of later releases. Attachments are locked as in a send.
const CONTENTS = `
  with first as materialized (select * from campaign_contents where company_id = $1 and campaign_id = $2),
  attached as (
    select m.id from media m join first f on m.id = any (f.media_ids) where m.company_id = $1 and m.deleted_at is null for share of m
  )
  insert into campaign_contents
  select (jsonb_populate_record(t, jsonb_build_object(
    'campaign_id', $3::uuid, 'subject', coalesce($4, t.subject), 'links', null,
    'overrides_template', t.overrides_template or $4 is not null, 'traceparent', null))).*
  from campaign_contents t
  where t.company_id = $1 and t.campaign_id = $2 and (select count(*) from attached) = cardinality(t.media_ids)
  returning subject`;

interface Resend {
  id: string;
  name: string;
  /** Replaces the first subject. */
  subject: string | undefined;
  emails: number;
  taskId: string;
  apiKeyId: string | null;
}

/** Undefined if an attachment of the first campaign was deleted. */
export async function writeResend(
  client: Client,
  companyId: string,
  firstId: string,
  { id, name, subject, emails, taskId, apiKeyId }: Resend,
): Promise<CampaignRow | undefined> {
  const values = [companyId, firstId, id, name, emails, taskId, apiKeyId];
  const row = (await queryOne<InsertedCampaign>(CAMPAIGN, values, client))!;
  const contents = await queryOne<{ subject: string }>(CONTENTS, [companyId, firstId, id, subject], client);
  return contents && rowOfNew(row, contents.subject);
}
