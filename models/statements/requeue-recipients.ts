/**
 * Requeues a resumed campaign's failed and unknown recipients in slices. Part of the models because the senders' rows
 * (recipients, chunks) and the campaign's counts and cursor must change in one transaction.
 */
import { campaignNo } from "../database/campaign-no.ts";
import { type Client, query, queryOne } from "../database/db.ts";
import { SEND_CHUNK_STATE } from "../send-chunk.ts";
import { SENT_EMAIL_STATUS } from "../sent-email-status.ts";
import { awaitsWinner } from "./decide-winner.ts";

const { queued, failed, unknown } = SENT_EMAIL_STATUS;

/** Returns whether the result of any of the campaign's emails is unknown. */
export async function hasUnknown(client: Client, companyId: string, campaignId: string): Promise<boolean> {
  const sql = `select from sent_emails where campaign_no = ${campaignNo("$2", "$1")} and status = ${unknown} limit 1`;
  return (await query(sql, [companyId, campaignId], client)).length > 0;
}

/** Chunks per slice: 20,000 recipients. */
const CHUNKS_AT_ONCE = 40;

interface RequeueingCampaign {
  id: string;
  company_id: string;
  requeue_from: number;
}

/**
 * The remaining recipients of a campaign without a winner keep waiting for it. Only expanded campaigns (`expanded_at`)
 * are decided, so nothing is decided while this runs. The new fence voids any later writes of an older lease.
 */
const REQUEUE = `
  with chunk as (
    select no, lo, hi from send_chunks
    where company_id = $1 and campaign_id = $2 and no >= $3 order by no limit $4
  ),
  again as (
    update sent_emails e set status = ${queued}, attempts = 0, next_attempt_at = null, error = null, smtp_response = null
    from chunk c
    where e.campaign_no = ${campaignNo("$2", "$1")} and e.seq between c.lo and c.hi and e.status in (${failed}, ${unknown})
    returning c.no, e.variant
  ),
  opened as (
    update send_chunks s set marked_to = s.lo - 1, fence = s.fence + 1, owner = null, lease_until = null,
      state = case when s.due_at > now() or a.is_rest and ${awaitsWinner("$1", "$2")} then ${SEND_CHUNK_STATE.waiting}
        else ${SEND_CHUNK_STATE.ready} end
    from (select no, bool_and(variant is null) as is_rest from again group by no) a
    where s.company_id = $1 and s.campaign_id = $2 and s.no = a.no
    returning 1
  ),
  counted as (select (select count(*) from again)::int as n, (select max(no) from chunk) as last,
    (select count(*) from chunk) as chunks, (select count(*) from opened) as opened)
  update campaigns c set
    failed_count = c.failed_count - counted.n,
    requeue_from = case when counted.chunks = $4 then counted.last + 1 end,
    expanded_at = case when counted.chunks < $4 and c.expand_cursor is null then now() end,
    updated_at = now()
  from counted
  where c.company_id = $1 and c.id = $2
  returning counted.n as requeued, c.expanded_at is not null as done`;

/** Requeues the next slice. The caller holds the campaign, so that no other slice runs at the same time. */
export async function requeueSlice(
  client: Client,
  campaign: RequeueingCampaign,
): Promise<{ requeued: number; done: boolean }> {
  const { company_id, id, requeue_from } = campaign;
  return (await queryOne(REQUEUE, [company_id, id, requeue_from, CHUNKS_AT_ONCE], client))!;
}
