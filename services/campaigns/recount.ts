/**
 * Counts are kept by delta in the transactions that change the rows, so they cannot differ. If they ever do (an operator's
 * hand, a restored table), a campaign whose recipients are all final would stay `sending` for ever: one in which nothing
 * is left to do and nothing has moved for a while is counted row by row.
 */
import type { ServiceBroker } from "moleculer";
import { query, queryOne } from "../../models/database/db.ts";
import { settle } from "./settle.ts";

const STUCK = `select id, company_id from campaigns c
  where status in ('pending', 'sending') and expanded_at is not null and error is null
    and sent_count + failed_count < total_emails and updated_at < now() - interval '10 minutes'
    and not exists (select from send_chunks k where k.company_id = c.company_id and k.campaign_id = c.id and k.state <> 2)
    and not exists (select from sent_emails e
      where e.company_id = c.company_id and e.campaign_id = c.id and e.next_attempt_at is not null)
  order by id limit 20`;

const RECOUNT = `
  with counted as (
    select count(*) as total, count(*) filter (where status = 2) as sent, count(*) filter (where status > 2) as failed
    from sent_emails where company_id = $1 and campaign_id = $2
  ),
  kept as (
    update campaigns c set sent_count = n.sent, failed_count = n.failed, total_emails = n.total, updated_at = now()
    from counted n where c.company_id = $1 and c.id = $2 and n.sent + n.failed = n.total
  )
  select total - sent - failed as open from counted`;

export async function recountStuck(broker: ServiceBroker): Promise<number> {
  const stuck = await query<{ id: string; company_id: string }>(STUCK);
  for (const { id, company_id } of stuck) {
    const counted = await queryOne<{ open: number }>(RECOUNT, [company_id, id]);
    if (counted!.open === 0) {
      broker.logger.warn(`The counts of campaign ${id} differed from its recipients and were made anew`);
      await settle(id, broker);
    } else {
      // Nobody knows whether these were sent: a person has to decide.
      broker.logger.error(`${counted!.open} recipients of campaign ${id} are queued, and no sender will take them`);
    }
  }
  return stuck.length;
}
