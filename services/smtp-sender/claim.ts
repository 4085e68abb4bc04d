/** Whose turn is it, and taking it: the only statements that compete with other senders for work. */

import { type Client, query, transaction } from "../../models/db.ts";
import { subscriberAt, suppressionAt } from "../../models/row-at.ts";
import { sameCompany } from "../../models/same-company.ts";
import { moveTo } from "../campaigns/lifecycle.ts";
import type { Line } from "./line.ts";
import type { ChunkLease, Turn } from "./rows.ts";

export const TURNS = 100;

/** What this process cannot use now. */
export interface Excluded {
  companyIds: readonly string[];
  smtpConfigIds: readonly string[];
  campaignIds: readonly string[];
}

const SENDABLE = `c.status in ('pending', 'sending') and c.error is null and co.sending_paused_at is null
  and (s.backoff_until is null or s.backoff_until <= now())
  and c.company_id <> all ($1::uuid[]) and c.smtp_config_id <> all ($2::uuid[]) and c.id <> all ($3::uuid[])`;

/** A campaign with what its turn needs; which ones, the statement says. */
const TURN = `select c.id as campaign_id, c.company_id, c.smtp_config_id, c.is_transactional, c.status,
    cc.sender_email, p.smtp_per_hour
  from campaigns c
  join companies co on co.id = c.company_id
  join plans p on p.name = co.plan
  join campaign_contents cc on cc.campaign_id = c.id and cc.company_id = c.company_id
  left join smtp_configs s on s.id = c.smtp_config_id and s.company_id = c.company_id`;

// Transactional first; then the company with the fewest leases anywhere, then who has waited longest, so that nobody
// stands behind a million. A deleted configuration has a turn too: the relay finds it gone and stops the campaign.
const WHOSE_TURN = `
  with leases as (select company_id, count(*) n from send_chunks where state = 1 group by company_id)
  ${TURN}
  left join leases l on l.company_id = c.company_id
  cross join lateral (
    select from send_chunks k where k.campaign_id = c.id and k.company_id = c.company_id and k.state = 0 limit 1) ready
  where ${SENDABLE}
  order by c.is_transactional desc, coalesce(l.n, 0), c.last_turn_at nulls first, c.id
  limit ${TURNS}`;

export const turns = (not: Excluded, line: Line): Promise<Turn[]> =>
  line.run<Turn>("turns", WHOSE_TURN, [not.companyIds, not.smtpConfigIds, not.campaignIds]);

// One chunk of each campaign. SKIP LOCKED: of two senders that ask at once each gets another one.
const LEASE = `
  with picked as (
    select k.campaign_id, k.no
    from unnest($1::uuid[], $2::uuid[]) w (campaign_id, company_id)
    cross join lateral (
      select campaign_id, no from send_chunks
      where campaign_id = w.campaign_id and company_id = w.company_id and state = 0
      order by no limit 1 for update skip locked) k)
  update send_chunks c
  set state = 1, owner = $3, fence = c.fence + 1, lease_until = now() + $4 * interval '1 millisecond'
  from picked where c.campaign_id = picked.campaign_id and c.no = picked.no
  returning c.campaign_id, c.no, c.lo, c.hi, c.fence`;

/** Leases a chunk of each campaign whose turn it is; one that another sender emptied meanwhile is missing. */
export function leaseChunks(wanted: readonly Turn[], owner: string, leaseMs: number): Promise<ChunkLease[]> {
  return transaction(async (client: Client) => {
    const ids = wanted.map((turn) => turn.campaign_id);
    const leased = await query<ChunkLease>(LEASE, [ids, wanted.map((turn) => turn.company_id), owner, leaseMs], client);
    const got = new Set(leased.map((chunk) => chunk.campaign_id));
    for (const { campaign_id, status } of wanted) {
      if (status === "pending" && got.has(campaign_id)) await moveTo(client, campaign_id, "sending");
    }
    await client.query("update campaigns set last_turn_at = now() where id = any ($1) and company_id = any ($2)", [
      [...got],
      wanted.map((turn) => turn.company_id),
    ]);
    return leased;
  });
}

const RELEASE = `
  update send_chunks c set state = 0, owner = null, lease_until = null, marked_to = c.lo - 1
  from unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[]) l (company_id, campaign_id, no, fence)
  where c.campaign_id = l.campaign_id and c.no = l.no and c.company_id = l.company_id
    and c.state = 1 and c.owner = $5 and c.fence = l.fence`;

/** Gives leases back whose handed-over recipients have all been recorded: the rest was certainly not sent. */
export async function releaseChunks(
  chunks: readonly (ChunkLease & { company_id: string })[],
  owner: string,
): Promise<void> {
  if (chunks.length === 0) return;
  const column = <K extends "company_id" | "campaign_id" | "no" | "fence">(key: K) => chunks.map((chunk) => chunk[key]);
  await query(RELEASE, [column("company_id"), column("campaign_id"), column("no"), column("fence"), owner]);
}

// Deferred recipients that are due, by campaign. Few rows: the partial index holds only those that wait. LATERAL with a
// LIMIT is never turned into a join: without statistics that would read the whole table of recipients, at every look.
export const DUE_TURNS = `
  ${TURN}
  cross join lateral (
    select from sent_emails e
    where e.campaign_id = c.id and ${sameCompany("e.company_id", "c.company_id")} and e.next_attempt_at <= now()
      and e.status = 0
    limit 1) due
  where ${SENDABLE}
  order by c.is_transactional desc, c.last_turn_at nulls first, c.id
  limit ${TURNS}`;

export const dueTurns = (not: Excluded, line: Line): Promise<Turn[]> =>
  line.run<Turn>("due-turns", DUE_TURNS, [not.companyIds, not.smtpConfigIds, not.campaignIds]);

/** The subscriber s of a recipient e. */
export const OF_SUBSCRIBER = `left join lateral (${subscriberAt("e.company_id", "e.subscriber_id", "r.*")}) s on true`;

/** The columns of RecipientRow; alias e = sent_emails, s = subscribers, $4 = is_transactional. */
export const RECIPIENT = `e.id, e.seq, e.email, e.cc, e.bcc, e.subscriber_id, e.variables::text, e.attempts,
  s.first_name, s.last_name, s.attributes::text, s.status as subscriber_status,
  case when (select exists (select from suppressions where company_id = $2 and domain is not null))
    then blocked_by(e.company_id, e.email)
    else (${suppressionAt("e.company_id", "lower(e.email)", "r.kind")})
  end as blocked,
  case when e.cc is not null or e.bcc is not null then (
    select array_agg(address) from unnest(coalesce(e.cc, '{}') || coalesce(e.bcc, '{}')) address
    where coalesce(blocked_by(e.company_id, address), 'unsubscribed') <> 'unsubscribed'
      or (not $4::boolean and blocked_by(e.company_id, address) is not null))
  end as blocked_copies`;

/** Takes deferred recipients that are due, one by one: each is its own lease, fenced by its number of tries. */
export const CLAIM_DUE = `
  with due as (
    select seq from sent_emails
    where next_attempt_at <= now() and status = 0 and campaign_id = $1 and ${sameCompany("company_id", "$2")}
    order by next_attempt_at limit $3 for update skip locked),
  taken as (
    update sent_emails e
    set status = 1, attempts = e.attempts + 1, next_attempt_at = now() + $5 * interval '1 millisecond'
    from due where e.campaign_id = $1 and e.seq = due.seq and ${sameCompany("e.company_id", "$2")}
    returning e.*)
  select ${RECIPIENT} from taken e
  ${OF_SUBSCRIBER}
  order by e.seq`;
