/**
 * The end of a campaign: once its audience is written and every recipient is final, its counts decide whether it is
 * completed, partial or failed, or cancelled where somebody stopped it before any mail. Triggered by the sender's last
 * outcome (campaign.drained, from smtp-sender/engine/start-engine.ts) and by a poll; calling it too often does no harm.
 */
import type { ServiceBroker } from "moleculer";
import { finalStatus, moveTo } from "../../../models/campaign-lifecycle.ts";
import { endTransaction, waitedTooLong } from "../../../models/database/bulk.ts";
import { type Client, query, queryOne, transaction } from "../../../models/database/db.ts";
import { hasUnknown } from "../../../models/statements/requeue-recipients.ts";
import { outboxInsert } from "../../../models/statements/webhook-outbox.ts";
import { failUntried } from "./fail-untried.ts";

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

/** Gives the campaign its final status if every recipient is final. */
async function finish(client: Client, { id, company_id, total_emails, ...campaign }: Running): Promise<"wait" | Ended> {
  const { sent_count: sent, failed_count: failed, error, stopped_at, guard_stopped } = campaign;
  if (sent + failed < total_emails) return "wait";
  const stopped = stopped_at && {
    stopped: { wasTried: guard_stopped || (await hasUnknown(client, company_id, id)) },
  };
  const status = finalStatus({ sent, failed, error, ...stopped });
  if (!(await moveTo(client, id, status))) return "wait";
  await query(QUEUE_COMPLETED, [company_id, id], client);
  return { companyId: company_id, status, sent, failed };
}

const runningOf = (client: Client, campaignId: string) => queryOne<Running>(EXPANDED, [campaignId], client);

/** Of one that was stopped the company: what it leaves may be a million recipients. */
async function settleOrdinary(client: Client, campaignId: string): Promise<"wait" | Ended | { stoppedOf: string }> {
  const campaign = await runningOf(client, campaignId);
  if (!campaign) return "wait";
  return campaign.error === null ? finish(client, campaign) : { stoppedOf: campaign.company_id };
}

async function settleStoppedPart(client: Client, campaignId: string): Promise<"wait" | "more" | Ended> {
  const campaign = await runningOf(client, campaignId);
  if (!campaign) return "wait";
  if (campaign.error !== null) {
    const left = await failUntried(client, { ...campaign, error: campaign.error });
    if (left !== "done") return left;
  }
  // Read again: failing what was left has changed the counts.
  return finish(client, (await runningOf(client, campaignId))!);
}

/** Part by part; where a request has waited too long, the poll goes on. */
async function settleStopped(companyId: string, campaignId: string): Promise<"wait" | Ended> {
  try {
    for (;;) {
      const step = await endTransaction(companyId, (client) => settleStoppedPart(client, campaignId));
      if (step !== "more") return step;
    }
  } catch (error) {
    if (waitedTooLong(error)) return "wait";
    throw error;
  }
}

/** True if this call gave the campaign its final status. */
export async function settle(campaignId: string, broker?: ServiceBroker): Promise<boolean> {
  const found = await transaction((client) => settleOrdinary(client, campaignId));
  if (found === "wait") return false;
  const end = "stoppedOf" in found ? await settleStopped(found.stoppedOf, campaignId) : found;
  if (end === "wait") return false;
  broker?.logger.info({ campaignId, ...end }, "Campaign ended");
  return true;
}

const IS_FINISHED = `status in ('pending', 'sending') and expanded_at is not null
  and (error is not null or sent_count + failed_count >= total_emails)`;

/** Each company's first before anybody's second: one that has stopped a thousand waits for itself. */
const FINISHED = `select id from campaigns where ${IS_FINISHED}
  order by row_number() over (partition by company_id order by id), id limit 200`;

/** Settles what no event announced: campaigns whose counts are complete, and those stopped by an error. */
export async function settleFinished(broker?: ServiceBroker): Promise<number> {
  const finished = await query<{ id: string }>(FINISHED);
  let settled = 0;
  for (const { id } of finished) if (await settle(id, broker)) settled += 1;
  return settled;
}
