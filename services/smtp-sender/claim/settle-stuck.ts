/**
 * Settles recipients that no sender will ever pick up: queued without a retry time, in a closed chunk. They appear when
 * the database loses its last transactions and their sender died, so its results could not be written again. They may
 * have been sent: in newsletters they become unknown, transactional mail is due again, as when a lease expires.
 */
import { campaignNo, inAnyPart } from "../../../models/database/campaign-no.ts";
import { query } from "../../../models/database/db.ts";
import { SEND_CHUNK_STATE } from "../../../models/send-chunk.ts";
import { SENT_EMAIL_STATUS } from "../../../models/sent-email-status.ts";
import { IN_DOUBT_ERROR } from "../../../models/statements/record-late-outcomes.ts";

const { queued, unknown } = SENT_EMAIL_STATUS;

const MAX_CAMPAIGNS = 20;
/** Limit per statement: the campaign's row stays locked while it runs. */
const MAX_RECIPIENTS = 10_000;

/**
 * Finds campaigns that have no open chunk, no recent writes, and counts that leave more recipients open than wait for a
 * retry. Partial indexes with few rows answer each part; a campaign's recipients are read only if the counts show stuck
 * ones. A campaign that never finishes costs just these probes.
 */
const FIND = `
  select c.id, c.company_id
  from campaigns c
  where c.status in ('pending', 'sending') and c.expanded_at is not null and c.error is null
    and c.updated_at < now() - $1 * interval '1 millisecond'
    and c.sent_count + c.failed_count < c.total_emails
    and not exists (select from send_chunks where campaign_id = c.id and company_id = c.company_id
      and state = ${SEND_CHUNK_STATE.ready})
    and not exists (select from send_chunks where company_id = c.company_id and campaign_id = c.id
      and state = ${SEND_CHUNK_STATE.leased})
    and not exists (select from send_chunks where campaign_id = c.id and company_id = c.company_id
      and state = ${SEND_CHUNK_STATE.waiting})
    and c.total_emails - c.sent_count - c.failed_count > (select count(*) from sent_emails e
      where e.campaign_no = c.no and e.next_attempt_at is not null)
  order by c.id limit ${MAX_CAMPAIGNS}`;

export const SETTLE = `
  with stuck as (
    select e.seq, c.is_transactional
    from campaigns c join sent_emails e on e.campaign_no = c.no
    where c.id = $2 and c.company_id = $1 and e.status = ${queued} and e.next_attempt_at is null
      and not exists (select from send_chunks k where k.campaign_id = $2 and k.company_id = $1
        and k.state <> ${SEND_CHUNK_STATE.done})
    limit ${MAX_RECIPIENTS} for update of e skip locked),
  settled as (
    update sent_emails e
    set status = case when s.is_transactional then ${queued} else ${unknown} end, error = $3,
      next_attempt_at = case when s.is_transactional then now() end
    from stuck s where ${inAnyPart("e.campaign_no", campaignNo("$2", "$1"))} and e.seq = s.seq
    returning e.status),
  counted as (
    update campaigns
    set failed_count = failed_count + s.n, tried_unsent = tried_unsent + s.n, updated_at = now()
    from (select count(*) as n from settled where status = ${unknown}) s
    where id = $2 and company_id = $1)
  select count(*)::int as n from settled`;

interface Stuck {
  campaign_id: string;
  recipients: number;
}

/** `quietMs`: minimum time since the last write for a campaign. */
export async function settleStuck(quietMs: number): Promise<Stuck[]> {
  const settled: Stuck[] = [];
  const campaigns = await query<{ id: string; company_id: string }>(FIND, [quietMs]);
  for (const { id, company_id } of campaigns) {
    const rows = await query<{ n: number }>(SETTLE, [company_id, id, IN_DOUBT_ERROR]);
    settled.push({ campaign_id: id, recipients: rows[0]!.n });
  }
  return settled;
}
