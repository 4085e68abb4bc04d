/**
 * The end of a campaign: once its audience is written and every recipient is final, its counts decide whether it is
 * completed, partial or failed, or cancelled where somebody stopped it before any mail. Triggered by the sender's last
 * outcome (campaign.drained, from smtp-sender/engine/start-engine.ts) and by a poll; calling it too often does no harm.
 */
import type { ServiceBroker } from "moleculer";
import { finalStatus, moveTo } from "../../../models/campaign-lifecycle.ts";
import { type Client, query, queryOne, transaction } from "../../../models/database/db.ts";
import { failUntried } from "../../../models/statements/fail-untried.ts";
import { hasUnknown } from "../../../models/statements/requeue-recipients.ts";
import { outboxInsert } from "../../../models/statements/webhook-outbox.ts";

interface Running {
  id: string;
  company_id: string;
  total_emails: number;
  sent_count: number;
  failed_count: number;
  error: string | null;
  stopped_at: Date | null;
  guard_stopped: boolean;
  restored: boolean;
}

const EXPANDED = `select id, company_id, total_emails, sent_count, failed_count, error, stopped_at,
    guard_stopped, restored from campaigns
  where id = $1 and status in ('pending', 'sending') and expanded_at is not null for no key update`;

/** For webhooks; no event of a mail. */
const QUEUE_COMPLETED = `
  with ended as (
    select uuid_v7() as id, c.company_id, 'campaign.completed' as type, null::text as recipient, null::uuid as sent_email_id,
      c.id as campaign_id, now() as created_at,
      jsonb_build_object('name', c.name, 'status', c.status, 'total_emails', c.total_emails, 'sent_count', c.sent_count,
        'failed_count', c.failed_count) as metadata
    from campaigns c where c.company_id = $1 and c.id = $2 and not c.is_internal)
  ${outboxInsert("ended")}`;

interface Ended {
  companyId: string;
  status: string;
  sent: number;
  failed: number;
}

async function settleStep(client: Client, campaignId: string): Promise<"wait" | "more" | Ended> {
  const campaign = await queryOne<Running>(EXPANDED, [campaignId], client);
  if (!campaign) return "wait";
  if (campaign.error !== null) {
    const left = await failUntried(client, { ...campaign, error: campaign.error });
    if (left !== "done") return left;
  }
  // Read again: failing what was left has changed the counts.
  const {
    sent_count: sent,
    failed_count: failed,
    total_emails,
    error,
    stopped_at,
    guard_stopped,
  } = (await queryOne<Running>(EXPANDED, [campaignId], client))!;
  if (sent + failed < total_emails) return "wait";
  const stopped = stopped_at && {
    stopped: { wasTried: guard_stopped || (await hasUnknown(client, campaign.company_id, campaignId)) },
  };
  const status = finalStatus({ sent, failed, error, ...stopped });
  if (!(await moveTo(client, campaignId, status))) return "wait";
  await query(QUEUE_COMPLETED, [campaign.company_id, campaignId], client);
  return { companyId: campaign.company_id, status, sent, failed };
}

/** True if this call gave the campaign its final status. */
export async function settle(campaignId: string, broker?: ServiceBroker): Promise<boolean> {
  for (;;) {
    const step = await transaction((client) => settleStep(client, campaignId));
    if (step === "more") continue;
    if (step === "wait") return false;
    broker?.logger.info({ campaignId, ...step }, "Campaign ended");
    return true;
  }
}

const IS_FINISHED = `status in ('pending', 'sending') and expanded_at is not null
  and (error is not null or sent_count + failed_count >= total_emails)`;

/** Finds a row where one may be settled. */
export const ANY_FINISHED = `select from campaigns where ${IS_FINISHED} order by status, scheduled_for`;

/** Settles what no event announced: campaigns whose counts are complete, and those stopped by an error. */
export async function settleFinished(broker?: ServiceBroker): Promise<number> {
  const finished = await query<{ id: string }>(`select id from campaigns where ${IS_FINISHED} order by id limit 200`);
  let settled = 0;
  for (const { id } of finished) if (await settle(id, broker)) settled += 1;
  return settled;
}
