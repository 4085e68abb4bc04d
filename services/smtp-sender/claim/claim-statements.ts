/**
 * Finds campaigns with recipients to send and leases their chunks. Only these statements compete with other senders for
 * work.
 */

import { BEGIN_SENDING } from "../../../models/campaign-lifecycle.ts";
import { prepared, query } from "../../../models/database/db.ts";
import { isOnTimeline } from "../../../models/database/history.ts";
import { sameCompany } from "../../../models/database/same-company.ts";
import { SEND_CHUNK_STATE } from "../../../models/send-chunk.ts";
import { SENT_EMAIL_STATUS } from "../../../models/sent-email-status.ts";
import type { ChunkLease, ClaimableCampaign } from "../delivery/rows.ts";
import type { PinnedConnection } from "../engine/pinned-connection.ts";

export const MAX_CAMPAIGNS = 100;

/** Work to leave out, because this process cannot use it now. */
export interface Excluded {
  companyIds: readonly string[];
  smtpConfigIds: readonly string[];
  campaignIds: readonly string[];
  /** Servers with enough newsletter batches; transactional mail is still claimed. */
  saturatedIds: readonly string[];
}

const values = ({ companyIds, smtpConfigIds, campaignIds, saturatedIds }: Excluded) => [
  companyIds,
  smtpConfigIds,
  campaignIds,
  saturatedIds,
];

// Sub-selects, which PostgreSQL hashes: with lists each of 10,000 waiting campaigns would be compared with each of hundreds
// of ids.
const SENDABLE = `c.status in ('pending', 'sending') and c.error is null
  and c.company_id not in (select unnest($1::uuid[])) and c.smtp_config_id not in (select unnest($2::uuid[]))
  and c.id not in (select unnest($3::uuid[]))
  and (c.is_transactional or c.smtp_config_id not in (select unnest($4::uuid[])))`;

/**
 * Returns the campaigns that no sender may continue, for any reason. $3: the batch holds copies, whose campaign may be
 * finished; copies of a stopped campaign are failed one by one (delivery/suppression.ts).
 */
export const STOPPED = `
  select w.campaign_id, w.copies from unnest($1::uuid[], $2::uuid[], $3::boolean[]) w (company_id, campaign_id, copies)
  where not exists (
    select from campaigns c join companies o on o.id = c.company_id
    where c.id = w.campaign_id and c.company_id = w.company_id and o.sending_paused_at is null
      and (w.copies or c.status in ('pending', 'sending') and c.error is null))`;

/** Counts once for all campaigns; each campaign looks up its company's count. */
const LEASES_OF_COMPANY = `coalesce(((
      select jsonb_object_agg(l.company_id, l.n)
      from (select company_id, count(*) as n from send_chunks where state = ${SEND_CHUNK_STATE.leased} group by company_id) l
    ) ->> c.company_id::text)::int, 0)`;

const OF_CAMPAIGN = `
  cross join lateral (
    select p.smtp_per_hour from companies o join plans p on p.name = o.plan
    where o.id = c.company_id and o.sending_paused_at is null limit 1) co
  cross join lateral (
    select sender_email, traceparent from campaign_contents where campaign_id = c.id and company_id = c.company_id limit 1) cc
  left join lateral (
    select backoff_until, bounce_address from smtp_configs where id = c.smtp_config_id and company_id = c.company_id limit 1) s on true
  where (s.backoff_until is null or s.backoff_until <= now())`;

const CLAIMABLE = `c.id as campaign_id, c.company_id, c.smtp_config_id, c.is_transactional, c.campaign_type, c.status,
    cc.sender_email, cc.traceparent, s.bounce_address, co.smtp_per_hour`;

/**
 * Returns the first campaigns in the given order that have the wanted recipients. Sorts all active campaigns by their
 * own rows and then checks one by one until there are enough: in a join the planner may start with the companies, which
 * is far slower. Includes campaigns whose configuration was deleted, so that they are stopped.
 */
const firstCampaigns = (order: string, wanted: string) => `
  select ${CLAIMABLE}, wanted.recipients as next_recipients
  from (
    select c.id, c.no, c.company_id, c.smtp_config_id, c.is_transactional, c.campaign_type, c.status, c.last_turn_at,
      (${LEASES_OF_COMPANY}) as leases
    from campaigns c where ${SENDABLE} order by ${order} offset 0) c
  cross join lateral (${wanted} limit 1) wanted
  ${OF_CAMPAIGN}
  order by ${order}
  limit ${MAX_CAMPAIGNS}`;

// Transactional mail first, then the company with the fewest leases on any node, then the campaign that has waited
// longest, so that no small campaign queues behind a very large one.
export const CLAIMABLE_CAMPAIGNS = firstCampaigns(
  "is_transactional desc, leases, last_turn_at nulls first, id",
  `select k.hi - k.lo + 1 as recipients from send_chunks k where k.campaign_id = c.id and k.company_id = c.company_id and k.state = ${SEND_CHUNK_STATE.ready}`,
);

export const claimableCampaigns = (excluded: Excluded, connection: PinnedConnection): Promise<ClaimableCampaign[]> =>
  connection.run<ClaimableCampaign>("claimable-campaigns", CLAIMABLE_CAMPAIGNS, values(excluded));

// Leases one chunk per campaign. SKIP LOCKED gives two senders that ask at the same time different chunks. One
// statement, because every sender that records results for these campaigns waits for their row locks: with several
// statements, a sender that froze in between would block them all. Campaigns are locked in id order, as results are;
// otherwise two senders that write for the same campaigns could deadlock.
const LEASE = `
  with picked as (
    select k.campaign_id, k.no
    from unnest($1::uuid[], $2::uuid[]) w (campaign_id, company_id)
    cross join lateral (
      select campaign_id, no from send_chunks
      where campaign_id = w.campaign_id and company_id = w.company_id and state = ${SEND_CHUNK_STATE.ready}
        and ${isOnTimeline("$5")}
      order by no limit 1 for update skip locked) k),
  leased as (
    update send_chunks c
    set state = ${SEND_CHUNK_STATE.leased}, owner = $3, fence = c.fence + 1, lease_until = now() + $4 * interval '1 millisecond'
    from picked where c.campaign_id = picked.campaign_id and c.no = picked.no
    returning c.company_id, c.campaign_id, c.no, c.lo, c.hi, c.fence),
  locked as (
    select c.id, c.company_id
    from (select distinct campaign_id, company_id from leased order by campaign_id) l
    cross join lateral (
      select id, company_id from campaigns
      where id = l.campaign_id and company_id = l.company_id limit 1 for no key update) c),
  turned as (
    update campaigns c set last_turn_at = now(), ${BEGIN_SENDING}
    from locked l where c.id = l.id and c.company_id = l.company_id)
  select campaign_id, no, lo, hi, fence from leased`;

/**
 * Leases a chunk of each campaign. A campaign is missing from the result if another sender emptied it, and all are
 * missing if the database is not on the timeline this sender knows.
 */
export function leaseChunks(
  wanted: readonly ClaimableCampaign[],
  owner: string,
  leaseMs: number,
  timeline: string | null,
): Promise<ChunkLease[]> {
  const ids = wanted.map((campaign) => campaign.campaign_id);
  const companyIds = wanted.map((campaign) => campaign.company_id);
  return prepared<ChunkLease>("lease", LEASE, [ids, companyIds, owner, leaseMs, timeline]);
}

// Increments the fence here as well: a sender that does not learn that its lease was released must not take a later
// owner's doubt for its own (record-late-outcomes.ts).
const RELEASE = `
  update send_chunks c
  set state = ${SEND_CHUNK_STATE.ready}, owner = null, lease_until = null, marked_to = c.lo - 1, fence = c.fence + 1
  from unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[]) l (company_id, campaign_id, no, fence)
  where c.campaign_id = l.campaign_id and c.no = l.no and c.company_id = l.company_id
    and c.state = ${SEND_CHUNK_STATE.leased} and c.owner = $5 and c.fence = l.fence
  returning c.no`;

/**
 * Releases leases whose handed-over recipients all have results; the other recipients were certainly not sent. Returns
 * how many leases were still held.
 */
export async function releaseChunks(
  chunks: readonly (Pick<ChunkLease, "campaign_id" | "no" | "fence"> & { company_id: string })[],
  owner: string,
): Promise<number> {
  if (chunks.length === 0) return 0;
  const column = <K extends "company_id" | "campaign_id" | "no" | "fence">(key: K) => chunks.map((chunk) => chunk[key]);
  const values = [column("company_id"), column("campaign_id"), column("no"), column("fence"), owner];
  return (await query(RELEASE, values)).length;
}

// Finds campaigns with deferred recipients that are due. Reads few rows: the partial index holds only waiting
// recipients. The planner never turns a LATERAL with a LIMIT into a join, which without statistics would read the whole
// recipients table each time. Uses the index's order: ordering by campaign alone would read all its recipients.
export const CAMPAIGNS_WITH_DUE_RETRIES = firstCampaigns(
  "is_transactional desc, last_turn_at nulls first, id",
  `select 1 as recipients from sent_emails e
    where e.campaign_no = c.no and e.next_attempt_at <= now()
      and e.status = ${SENT_EMAIL_STATUS.queued}
    order by e.next_attempt_at`,
);

export const campaignsWithDueRetries = (
  excluded: Excluded,
  connection: PinnedConnection,
): Promise<ClaimableCampaign[]> =>
  connection.run<ClaimableCampaign>("campaigns-with-due-retries", CAMPAIGNS_WITH_DUE_RETRIES, values(excluded));

// Finds campaigns with copies that are due, including finished ones, which are too many to check: skips from campaign
// to campaign in the index of waiting copies. The company's hourly limit does not apply, because the main emails have
// been sent. Copies of a stopped campaign are claimed too, and end as failed.
export const CAMPAIGNS_WITH_DUE_COPIES = `
  with recursive waiting as (
    (select campaign_id, company_id from sent_email_copies where next_attempt_at is not null
     order by campaign_id limit 1)
    union all
    select n.campaign_id, n.company_id
    from waiting w cross join lateral (
      select campaign_id, company_id from sent_email_copies
      where campaign_id > w.campaign_id and next_attempt_at is not null order by campaign_id limit 1) n)
  select ${CLAIMABLE}, 1 as next_recipients
  from waiting w
  cross join lateral (
    select id, company_id, smtp_config_id, is_transactional, campaign_type, status from campaigns
    where id = w.campaign_id and company_id = w.company_id limit 1) c
  cross join lateral (
    select next_attempt_at as at from sent_email_copies
    where campaign_id = w.campaign_id and ${sameCompany("company_id", "w.company_id")} and next_attempt_at <= now()
      and status = ${SENT_EMAIL_STATUS.queued}
    order by next_attempt_at limit 1) due
  ${OF_CAMPAIGN}
    and c.smtp_config_id not in (select unnest($1::uuid[])) and c.id not in (select unnest($2::uuid[]))
    and (c.is_transactional or c.smtp_config_id not in (select unnest($3::uuid[])))
  order by c.is_transactional desc, due.at, c.id
  limit ${MAX_CAMPAIGNS}`;

export const campaignsWithDueCopies = (
  { smtpConfigIds, campaignIds, saturatedIds }: Excluded,
  connection: PinnedConnection,
): Promise<ClaimableCampaign[]> =>
  connection.run<ClaimableCampaign>("campaigns-with-due-copies", CAMPAIGNS_WITH_DUE_COPIES, [
    smtpConfigIds,
    campaignIds,
    saturatedIds,
  ]);

const FAIL_QUEUED_COPIES = `
  update sent_email_copies set status = ${SENT_EMAIL_STATUS.failed}, next_attempt_at = null, error = $3
  where campaign_id = $2 and ${sameCompany("company_id", "$1")} and next_attempt_at is not null
    and status = ${SENT_EMAIL_STATUS.queued}`;

/**
 * Fails the queued copies of a campaign that was stopped for an error only the user can fix. A copy in progress is
 * failed by the next stop.
 */
export async function failQueuedCopies(companyId: string, campaignId: string, error: string): Promise<void> {
  await query(FAIL_QUEUED_COPIES, [companyId, campaignId, error]);
}
