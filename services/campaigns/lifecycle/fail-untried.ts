/**
 * Fails the remaining recipients of a campaign stopped by an error, the bounce guard or a person (`campaigns.error`
 * says which). Senders claim no more of it; once the last lease ends, recipients that were not attempted fail with that
 * error. The senders' rows and the campaign's counts change in one transaction.
 */

import { campaignNo, inAnyPart } from "../../../models/database/campaign-no.ts";
import { type Client, query, queryOne } from "../../../models/database/db.ts";
import { subscriberAt } from "../../../models/database/row-at.ts";
import { SEND_CHUNK_STATE } from "../../../models/send-chunk.ts";
import { SENT_EMAIL_STATUS } from "../../../models/sent-email-status.ts";
import { withIds } from "../../../models/statements/mail-key.ts";
import { wants } from "../../../models/statements/record-outcomes.ts";
import { outboxInsert } from "../../../models/statements/webhook-outbox.ts";
import type { MailNumber } from "../../lib/tokens/mail-id.ts";

const { done } = SEND_CHUNK_STATE;
const CAMPAIGN_NO = campaignNo("$2", "$1");
const { queued, sending, failed, unknown } = SENT_EMAIL_STATUS;

/** 40 chunks are 20,000 recipients per transaction, which limits how long the campaign's row is locked. */
const CHUNKS_AT_ONCE = 40;

/** Recipients are returned only if a webhook needs them. */
const RETURNING = "returning e.campaign_no, e.seq, e.email, e.subscriber_id";
const FAILED = (rows: string) => `(select count(*) from ${rows}) as failed,
  case when exists (select from webhook_endpoints p where ${wants("'failed'", "$1")}) then (
    select json_agg(json_build_object('campaign_no', f.campaign_no, 'seq', f.seq, 'email', coalesce(f.email, p.email)))
    from ${rows} f left join lateral (${subscriberAt("$1", "f.subscriber_id", "r.email")}) p on true) end as recipients`;

type FailedRecipient = MailNumber & { id: string; email: string; message_id?: string };

const QUEUE_FAILED = `
  with failed as (
    select uuid_v7() as id, $1::uuid as company_id, 'failed' as type, r.email as recipient, r.id as sent_email_id,
      $2::uuid as campaign_id, now() as created_at,
      jsonb_build_object('smtp_response', null, 'error', $3::text,
        'message_id', '<' || r.message_id || '@' || split_part(cc.sender_email, '@', -1) || '>') as metadata
    from unnest($4::uuid[], $5::text[], $6::text[]) r (id, email, message_id)
    join campaign_contents cc on cc.campaign_id = $2 and cc.company_id = $1)
  ${outboxInsert("failed")}`;

async function queueFailed(client: Client, campaign: StoppedCampaign, failed: FailedRecipient[]): Promise<void> {
  const rows = await withIds(failed);
  await query(
    QUEUE_FAILED,
    [
      campaign.company_id,
      campaign.id,
      campaign.error,
      rows.map(({ id }) => id),
      rows.map(({ email }) => email),
      rows.map(({ message_id }) => message_id),
    ],
    client,
  );
}

interface StoppedCampaign {
  id: string;
  company_id: string;
  error: string;
  /**
   * After a restore from a snapshot it is unknown whether they were attempted (restored-database.ts): they end as
   * unknown.
   */
  restored: boolean;
}

async function inFlight(client: Client, { id, company_id }: StoppedCampaign): Promise<boolean> {
  const found = await queryOne<{ busy: boolean }>(
    `select exists (select from send_chunks where company_id = $1 and campaign_id = $2 and state = ${SEND_CHUNK_STATE.leased})
         or exists (select from sent_emails e where e.campaign_no = ${CAMPAIGN_NO}
                    and next_attempt_at is not null and status = ${sending}) as busy`,
    [company_id, id],
    client,
  );
  return found!.busy;
}

/**
 * Recipients that are unclaimed, not yet due, or waiting for a winner. Locked chunks are skipped: their sender waits
 * for the campaign's row, which this transaction holds.
 */
const failChunks = (which: number) => `
  with ready as (
    select no, lo, hi from send_chunks
    where company_id = $1 and campaign_id = $2 and state = ${which} order by no limit $5 for update skip locked
  ),
  closed as (
    update send_chunks c set state = ${done} from ready r
    where c.company_id = $1 and c.campaign_id = $2 and c.no = r.no returning 1
  ),
  untried as (
    update sent_emails e set status = $4::smallint, error = $3, next_attempt_at = null from ready r
    where ${inAnyPart("e.campaign_no", CAMPAIGN_NO)} and e.seq between r.lo and r.hi and e.status = ${queued} ${RETURNING}
  )
  select (select count(*) from closed) as chunks, ${FAILED("untried")}`;

export const FAIL_CHUNKS = failChunks(SEND_CHUNK_STATE.ready);
const FAIL_WAITING_CHUNKS = failChunks(SEND_CHUNK_STATE.waiting);

/** Recipients that wait for a retry, outside of any open chunk. */
const FAIL_DEFERRED = `
  with deferred as (
    update sent_emails e set status = $4::smallint, error = $3, next_attempt_at = null
    where e.campaign_no = ${CAMPAIGN_NO} and e.status = ${queued} and e.next_attempt_at is not null ${RETURNING}
  )
  select 0 as chunks, ${FAILED("deferred")}`;

/**
 * Fails the next batch of remaining recipients. "wait": a sender still holds a lease; "more": call again; "done": every
 * recipient is final. The caller holds the lock of the campaign's row.
 */
export async function failUntried(client: Client, campaign: StoppedCampaign): Promise<"wait" | "more" | "done"> {
  if (await inFlight(client, campaign)) return "wait";
  const values = [campaign.company_id, campaign.id, campaign.error, campaign.restored ? unknown : failed];
  type Counts = { chunks: number; failed: number; recipients: FailedRecipient[] | null };
  let part = (await queryOne<Counts>(FAIL_CHUNKS, [...values, CHUNKS_AT_ONCE], client))!;
  if (part.chunks === 0) part = (await queryOne<Counts>(FAIL_WAITING_CHUNKS, [...values, CHUNKS_AT_ONCE], client))!;
  if (part.chunks === 0) part = (await queryOne<Counts>(FAIL_DEFERRED, values, client))!;
  await query(
    "update campaigns set failed_count = failed_count + $3, updated_at = now() where company_id = $1 and id = $2",
    [campaign.company_id, campaign.id, part.failed],
    client,
  );
  if (part.recipients && !campaign.restored) await queueFailed(client, campaign, part.recipients);
  return part.chunks > 0 ? "more" : "done";
}
