/** Cleans up what is outdated or unfinished, for all companies. Safe to run on several nodes at once. */
import type { ServiceBroker } from "moleculer";
import { campaignNo } from "../../models/database/campaign-no.ts";
import { query, queryOne } from "../../models/database/db.ts";
import { SEND_CHUNK_STATE } from "../../models/send-chunk.ts";
import { SENT_EMAIL_STATUS } from "../../models/sent-email-status.ts";
import { forgetOldChanges } from "../../models/statements/change-address.ts";
import { settle } from "./lifecycle/settle.ts";
import { sweepMedia } from "./media/media-files.ts";
import { deleteOldKeys } from "./send/idempotency.ts";

export async function tidy(broker: ServiceBroker): Promise<number> {
  return (await deleteOldKeys()) + (await forgetOldChanges()) + (await sweepMedia()) + (await recountStuck(broker));
}

const { sent } = SENT_EMAIL_STATUS;

const STUCK = `select id, company_id from campaigns c
  where status in ('pending', 'sending') and expanded_at is not null and error is null
    and sent_count + failed_count < total_emails and updated_at < now() - interval '10 minutes'
    and not exists (select from send_chunks k where k.company_id = c.company_id and k.campaign_id = c.id and k.state <> ${SEND_CHUNK_STATE.done})
    and not exists (select from sent_emails e
      where e.campaign_no = c.no and e.next_attempt_at is not null)
  order by id limit 20`;

// Every status after `sent` is final and counts as failed.
const RECOUNT = `
  with counted as (
    select count(*) as total, count(*) filter (where status = ${sent}) as sent, count(*) filter (where status > ${sent}) as failed
    from sent_emails where campaign_no = ${campaignNo("$2", "$1")}
  ),
  kept as (
    update campaigns c set sent_count = n.sent, failed_count = n.failed + c.unwritten,
      total_emails = n.total + c.unwritten, updated_at = now()
    from counted n where c.company_id = $1 and c.id = $2 and n.sent + n.failed = n.total
  )
  select total - sent - failed as open from counted`;

/**
 * Recounts campaigns in which nothing is left to do and nothing has moved for ten minutes. Counts are maintained
 * transactionally, but after a manual UPDATE or a restore a campaign could stay `sending` forever.
 */
async function recountStuck(broker: ServiceBroker): Promise<number> {
  const stuck = await query<{ id: string; company_id: string }>(STUCK);
  for (const { id, company_id } of stuck) {
    const counted = await queryOne<{ open: number }>(RECOUNT, [company_id, id]);
    if (counted!.open === 0) {
      broker.logger.warn(`The counts of campaign ${id} differed from its recipients and were recounted`);
      await settle(id, broker);
    } else {
      // A person has to decide, because it is unknown whether these were sent.
      broker.logger.error(`${counted!.open} recipients of campaign ${id} are queued, but no sender will claim them`);
    }
  }
  return stuck.length;
}
