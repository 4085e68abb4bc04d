/**
 * A campaign that was stopped by an error (`campaigns.error` is set): senders claim none of it any more. Once the last
 * lease has ended, recipients that were not tried fail with that error, so that every one is accounted for. Stands with
 * the models because the senders' rows and the campaign's counts must change in one transaction.
 */
import { campaignNo } from "../database/campaign-no.ts";
import { type Client, query, queryOne } from "../database/db.ts";
import { IS_LEASED, IS_READY, SEND_CHUNK_STATE } from "../send-chunk.ts";
import { SENT_EMAIL_STATUS } from "../sent-email-status.ts";

const { done } = SEND_CHUNK_STATE;
const RECIPIENTS = `e.campaign_no = ${campaignNo("$2", "$1")}`;
const { queued, sending, failed } = SENT_EMAIL_STATUS;

/** 20,000 recipients a transaction: the campaign's row is locked for about 0.1 s. */
const CHUNKS_AT_ONCE = 40;

interface StoppedCampaign {
  id: string;
  company_id: string;
  error: string;
}

async function inFlight(client: Client, { id, company_id }: StoppedCampaign): Promise<boolean> {
  const found = await queryOne<{ busy: boolean }>(
    `select exists (select from send_chunks where company_id = $1 and campaign_id = $2 and state ${IS_LEASED})
         or exists (select from sent_emails e where ${RECIPIENTS}
                    and next_attempt_at is not null and status = ${sending}) as busy`,
    [company_id, id],
    client,
  );
  return found!.busy;
}

/**
 * Recipients that no sender has claimed. A locked chunk is being claimed at this moment: its sender waits for the
 * campaign's row, which we hold, so we must not wait for the chunk.
 */
const FAIL_CHUNKS = `
  with ready as (
    select no, lo, hi from send_chunks
    where company_id = $1 and campaign_id = $2 and state ${IS_READY} order by no limit $4 for update skip locked
  ),
  closed as (
    update send_chunks c set state = ${done} from ready r
    where c.company_id = $1 and c.campaign_id = $2 and c.no = r.no returning 1
  ),
  untried as (
    update sent_emails e set status = ${failed}, error = $3, next_attempt_at = null from ready r
    where ${RECIPIENTS} and e.seq between r.lo and r.hi and e.status = ${queued} returning 1
  )
  select (select count(*) from closed) as chunks, (select count(*) from untried) as failed`;

/** Recipients that wait for a retry, outside of any open chunk. */
const FAIL_DEFERRED = `
  with deferred as (
    update sent_emails e set status = ${failed}, error = $3, next_attempt_at = null
    where ${RECIPIENTS} and status = ${queued} and next_attempt_at is not null returning 1
  )
  select 0 as chunks, count(*) as failed from deferred`;

/**
 * Fails the next part of the recipients that are left. "wait": a sender still holds a lease; "more": call again; "done":
 * every recipient is final. The caller holds the lock of the campaign's row.
 */
export async function failUntried(client: Client, campaign: StoppedCampaign): Promise<"wait" | "more" | "done"> {
  if (await inFlight(client, campaign)) return "wait";
  const values = [campaign.company_id, campaign.id, campaign.error];
  type Counts = { chunks: number; failed: number };
  let part = (await queryOne<Counts>(FAIL_CHUNKS, [...values, CHUNKS_AT_ONCE], client))!;
  if (part.chunks === 0) part = (await queryOne<Counts>(FAIL_DEFERRED, values, client))!;
  await query(
    "update campaigns set failed_count = failed_count + $3, updated_at = now() where company_id = $1 and id = $2",
    [campaign.company_id, campaign.id, part.failed],
    client,
  );
  return part.chunks > 0 ? "more" : "done";
}
