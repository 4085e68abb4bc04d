/**
 * Ends a campaign: once its audience is written and every recipient is final, its counts decide between completed,
 * partial, failed and cancelled (stopped before any message). Triggered by the sender's last outcome (campaign.drained,
 * from smtp-sender/engine/start-engine.ts) and by a poll; extra calls are harmless.
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

/** Event for webhooks; it belongs to no message. */
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

/** Sets the final status if every recipient is final. */
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

/** Settles a campaign that was not stopped. Otherwise returns its company: a million recipients may be left to fail. */
async function settleUnstopped(client: Client, campaignId: string): Promise<"wait" | Ended | { stoppedOf: string }> {
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
  // Read again, because failing the remaining recipients changed the counts.
  return finish(client, (await runningOf(client, campaignId))!);
}

/** Works in batches; after the time limit the poll continues. */
async function settleStopped(companyId: string, campaignId: string): Promise<"wait" | Ended> {
  try {
    for (;;) {
      const result = await endTransaction(companyId, (client) => settleStoppedPart(client, campaignId));
      if (result !== "more") return result;
    }
  } catch (error) {
    if (waitedTooLong(error)) return "wait";
    throw error;
  }
}

/** True if this call set the final status. */
export async function settle(campaignId: string, broker?: ServiceBroker): Promise<boolean> {
  const found = await transaction((client) => settleUnstopped(client, campaignId));
  if (found === "wait") return false;
  const end = "stoppedOf" in found ? await settleStopped(found.stoppedOf, campaignId) : found;
  if (end === "wait") return false;
  broker?.logger.info({ campaignId, ...end }, "Campaign ended");
  return true;
}

const IS_FINISHED = `status in ('pending', 'sending') and expanded_at is not null
  and (error is not null or sent_count + failed_count >= total_emails)`;

/** Round robin over companies, so that one that stopped a thousand campaigns delays only itself. */
const FINISHED = `select id from campaigns where ${IS_FINISHED}
  order by row_number() over (partition by company_id order by id), id limit 200`;

/** Settles campaigns that no event announced: those with complete counts, and those stopped by an error. */
export async function settleFinished(broker?: ServiceBroker): Promise<number> {
  const finished = await query<{ id: string }>(FINISHED);
  let settled = 0;
  for (const { id } of finished) if (await settle(id, broker)) settled += 1;
  return settled;
}
