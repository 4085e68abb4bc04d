/**
 * Deletes data older than its company's retention: events, inbound messages, and recipients of finished campaigns.
 * Works in small transactions without waiting for locks; the next run continues what a crash leaves. Campaign counts,
 * suppressions, contents and the campaigns themselves stay.
 *
 * View and unsubscribe links of an email work as long as its recipient is kept, at least 60 days after the campaign
 * finished.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceBroker } from "moleculer";
import { type Client, query, queryOne, transaction } from "../../models/database/db.ts";
import { SENT_EMAIL_STATUS } from "../../models/sent-email-status.ts";
import { companyNo } from "../../models/statements/hits.ts";
import { moveHits } from "../../models/statements/move-hits.ts";
import { config } from "../lib/config.ts";
import { firstIdAt } from "../lib/ids.ts";
import { dropHitParts } from "./drop-hit-parts.ts";
import { emptyDeleted, removeWhole } from "./empty-deleted.ts";

const DAY_MS = 24 * 3_600_000;
/** Recipients (about 1 MB of rows) or events per transaction. */
const SLICE = 5_000;
/** Maximum duration of a run; the next one continues. */
const RUN_MS = 20_000;

interface Due {
  id: string;
  events_days: number | null;
  sent_emails_days: number | null;
  inbound_days: number | null;
}

// Processes each company once per day, and at once after its retention was changed. The index makes this cheap for any
// number of companies. $3: companies with their own setting, or the others. Rows locked by another node are skipped.
const DUE = `
  update companies set retention_done_at = now()
  where id = (
    select id from companies
    where (retention_days <> '{}') = $3
      and coalesce(retention_done_at, '-infinity'::timestamptz) < now() - interval '1 day'
    order by coalesce(retention_done_at, '-infinity'::timestamptz) limit 1 for no key update skip locked)
  returning id, coalesce((retention_days->>'events')::int, $1::int) as events_days,
    coalesce((retention_days->>'sent_emails')::int, $2::int) as sent_emails_days, (retention_days->>'inbound')::int as inbound_days`;

/** `events`, `sentEmails`: default days of the installation. */
async function nextDue(events: number | undefined, sentEmails: number | undefined): Promise<Due | undefined> {
  const due = (hasOwn: boolean) => queryOne<Due>(DUE, [events ?? null, sentEmails ?? null, hasOwn]);
  const hasDefault = events !== undefined || sentEmails !== undefined;
  return (await due(true)) ?? (hasDefault ? due(false) : undefined);
}

/** Campaign counts stay as they are, as for erased persons. */
const KEEP_CAMPAIGN_COUNTS = "set local flockmail.erasing = 'on'";

// Ids contain times; an id whose client clock was wrong is checked by its time.
const REMOVE_EVENTS = `
  delete from email_events where company_id = $1 and id in (
    select id from email_events where company_id = $1 and id < $2 and created_at < $3 order by id limit ${SLICE})`;

const REMOVE_HITS = `
  delete from hits h using (
    select id, campaign_no, seq from hits
    where company_no = ${companyNo("$1")} and id < $2 and hit_stretch(id) <= hit_stretch($2::uuid) and $3::timestamptz is not null
    order by hit_stretch(id) limit ${SLICE}) g
  where hit_mail(h.campaign_no, h.seq) = hit_mail(g.campaign_no, g.seq) and h.id = g.id`;

// Includes the original messages, which are kept for at most 30 days anyway.
const REMOVE_INBOUND = `
  with gone as (
    delete from inbound_messages where company_id = $1 and id in (
      select id from inbound_messages where company_id = $1 and id < $2 and received_at < $3 order by id limit ${SLICE})
    returning raw_id),
  raws as (delete from inbound_raws r using gone g where r.company_id = $1 and r.id = g.raw_id)
  select from gone`;

async function removeBySlices(sql: string, companyId: string, before: number, until: number): Promise<boolean> {
  for (;;) {
    if (performance.now() > until) return false;
    const removed = await transaction(async (client) => {
      await client.query(KEEP_CAMPAIGN_COUNTS);
      return (await client.query(sql, [companyId, firstIdAt(before), new Date(before)])).rowCount!;
    });
    if (removed < SLICE) return true;
  }
}

// Any later write to a campaign (resume, late answer) restarts its retention. A removal in progress continues.
const NEXT_CAMPAIGN = `
  update campaigns set recipients_state = 'removing'
  where id = (
    select id from campaigns
    where company_id = $1 and recipients_state <> 'removed'
      and status in ('completed', 'partial', 'failed', 'cancelled') and (recipients_state = 'removing' or updated_at < $2)
    order by id limit 1 for no key update)
  returning id, no`;

// Locks in key order, as senders do.
const LOCK_RECIPIENTS = `
  with slice as (select seq from sent_emails where campaign_no = $1 order by seq limit ${SLICE} for update)
  select min(seq) as "from", max(seq) as "to" from slice`;
const REMOVE_RECIPIENTS = "delete from sent_emails where campaign_no = $1 and seq between $2 and $3";
// A delivery ends a series of soft bounces, even when its message is no longer kept.
const END_SOFT_BOUNCES = `
  update subscribers s set soft_bounces = 0 from sent_emails e
  where e.campaign_no = $2 and e.seq between $3 and $4 and e.status = ${SENT_EMAIL_STATUS.sent}
    and s.company_id = $1 and s.id = e.subscriber_id and s.soft_bounces > 0 and e.sent_at > s.soft_bounced_at`;
const REMOVE_COPIES = "delete from sent_email_copies where company_id = $1 and campaign_id = $2";
const REMOVE_CHUNKS = "delete from send_chunks where company_id = $1 and campaign_id = $2";
const REMOVED = "update campaigns set recipients_state = 'removed' where company_id = $1 and id = $2";

/** Returns how many were removed. Their opens and clicks stay for the retention of events. */
async function removeSlice(client: Client, companyId: string, campaignNo: number): Promise<number> {
  const slice = (await queryOne<{ from: number | null; to: number }>(LOCK_RECIPIENTS, [campaignNo], client))!;
  if (slice.from === null) return 0;
  const { from, to } = slice;
  await moveHits(client, { companyId, campaignNo, from, to });
  await client.query(END_SOFT_BOUNCES, [companyId, campaignNo, from, to]);
  return (await client.query(REMOVE_RECIPIENTS, [campaignNo, from, to])).rowCount!;
}

async function removeRecipients(companyId: string, before: Date, until: number): Promise<boolean> {
  for (;;) {
    const campaign = await queryOne<{ id: string; no: number | null }>(NEXT_CAMPAIGN, [companyId, before]);
    if (!campaign) return true;
    const { no } = campaign;
    // A campaign without a number has no recipients.
    let removed = no === null ? 0 : SLICE;
    while (no !== null && removed === SLICE) {
      if (performance.now() > until) return false;
      removed = await transaction((client) => removeSlice(client, companyId, no));
    }
    await transaction(async (client) => {
      for (const rest of [REMOVE_COPIES, REMOVE_CHUNKS, REMOVED]) await client.query(rest, [companyId, campaign.id]);
    });
    await removeWhole(companyId, campaign.id, until);
  }
}

// Drops a partition (2^20 campaign numbers of one month) as a whole once nothing of it is kept.
const EMPTY_PARTS = `
  select p.no from recipient_parts p
  where p.month < date_trunc('month', now() at time zone 'UTC')
    and not exists (
      select from campaigns c where c.no >= p.no::bigint << 20 and c.no < (p.no + 1)::bigint << 20
        and c.recipients_state <> 'removed')`;
// The function checks again once it holds both locks. It waits at most half a second for each, because other statements
// queue behind it.
const DROP_PART = "select drop_recipient_part($1) as dropped";
const LOCK_NOT_AVAILABLE = "55P03";
const DROP_TRIES = 5;
const DROP_RETRY_MS = 2_000;

/** False if the locks are not available or the partition is in use again; the next run retries. */
async function dropPart(partNo: number): Promise<boolean> {
  for (let tried = 1; ; tried++) {
    try {
      return (await queryOne<{ dropped: boolean }>(DROP_PART, [partNo]))!.dropped;
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
      if (tried === DROP_TRIES) return false;
      await sleep(DROP_RETRY_MS);
    }
  }
}

async function dropEmptyParts(broker: ServiceBroker): Promise<void> {
  for (const { no } of await query<{ no: number }>(EMPTY_PARTS)) {
    if (!(await dropPart(no))) continue;
    broker.logger.info(`Table sent_emails_${no} dropped: the retention of all its recipients has expired`);
  }
}

const removeEvents = async (companyId: string, before: number, until: number): Promise<boolean> =>
  (await removeBySlices(REMOVE_EVENTS, companyId, before, until)) &&
  (await removeBySlices(REMOVE_HITS, companyId, before, until));

/** Returns how many companies were processed. Deleted campaigns are handled first. */
export async function removeOld(broker: ServiceBroker): Promise<number> {
  const { EVENTS_RETENTION_DAYS: events, SENT_EMAILS_RETENTION_DAYS: sentEmails } = config();
  const until = performance.now() + RUN_MS;
  await emptyDeleted(until);
  // Drop whole tables before rows are deleted one by one.
  await dropHitParts(broker, events ?? null, until);
  let companies = 0;
  while (performance.now() < until) {
    const due = await nextDue(events, sentEmails);
    if (!due) break;
    companies++;
    const { id, events_days, sent_emails_days, inbound_days } = due;
    const daysAgo = (days: number) => Date.now() - days * DAY_MS;
    const isDone =
      (events_days === null || (await removeEvents(id, daysAgo(events_days), until))) &&
      (inbound_days === null || (await removeBySlices(REMOVE_INBOUND, id, daysAgo(inbound_days), until))) &&
      (sent_emails_days === null || (await removeRecipients(id, new Date(daysAgo(sent_emails_days)), until)));
    if (!isDone) await query("update companies set retention_done_at = null where id = $1", [id]);
  }
  if (companies > 0) await dropEmptyParts(broker);
  return companies;
}
