/**
 * Removes what is older than its company keeps it: events, what came back, and the recipients of campaigns at rest. In small steps, each a
 * transaction: what a crash leaves is removed by the next run, and nobody waits for a lock.
 *
 * What campaigns count stays, and so do suppressions, contents, and the campaigns themselves. Links, view and unsubscribe of
 * a mail work as long as its recipient is kept, so never less than 60 days after its campaign came to rest.
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
/** Of a slice of recipients (some 1 MB of rows), or of events. */
const SLICE = 5_000;
/** How long one run goes on; the next takes up where it was. */
const RUN_MS = 20_000;

interface Due {
  id: string;
  events_days: number | null;
  sent_emails_days: number | null;
  inbound_days: number | null;
}

// Each company once a day, and at once after its days were changed: the first of an index, however many companies there are.
// $3: those with days of their own, or the others. Locked for a moment: another node takes others.
const DUE = `
  update companies set retention_done_at = now()
  where id = (
    select id from companies
    where (retention_days <> '{}') = $3
      and coalesce(retention_done_at, '-infinity'::timestamptz) < now() - interval '1 day'
    order by coalesce(retention_done_at, '-infinity'::timestamptz) limit 1 for no key update skip locked)
  returning id, coalesce((retention_days->>'events')::int, $1::int) as events_days,
    coalesce((retention_days->>'sent_emails')::int, $2::int) as sent_emails_days, (retention_days->>'inbound')::int as inbound_days`;

/** `events`, `sentEmails`: the operator's days, for companies that have none of their own. */
async function nextDue(events: number | undefined, sentEmails: number | undefined): Promise<Due | undefined> {
  const due = (hasOwn: boolean) => queryOne<Due>(DUE, [events ?? null, sentEmails ?? null, hasOwn]);
  const hasDefault = events !== undefined || sentEmails !== undefined;
  return (await due(true)) ?? (hasDefault ? due(false) : undefined);
}

/** Campaigns go on counting them, as those of erased people. */
const KEEP_CAMPAIGN_COUNTS = "set local flockmail.erasing = 'on'";

// Ids are made of times; one that a client's clock made too early is found young by its time.
const REMOVE_EVENTS = `
  delete from email_events where company_id = $1 and id in (
    select id from email_events where company_id = $1 and id < $2 and created_at < $3 order by id limit ${SLICE})`;

const REMOVE_HITS = `
  delete from hits h using (
    select id, campaign_no, seq from hits
    where company_no = ${companyNo("$1")} and id < $2 and hit_stretch(id) <= hit_stretch($2::uuid) and $3::timestamptz is not null
    order by hit_stretch(id) limit ${SLICE}) g
  where hit_mail(h.campaign_no, h.seq) = hit_mail(g.campaign_no, g.seq) and h.id = g.id`;

// With the messages as they came, which nobody keeps for more than 30 days anyway.
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

// Whatever is written to a campaign, a resume or a late answer, makes it young again. One that is being removed goes on.
const NEXT_CAMPAIGN = `
  update campaigns set recipients_state = 'removing'
  where id = (
    select id from campaigns
    where company_id = $1 and recipients_state <> 'removed'
      and status in ('completed', 'partial', 'failed', 'cancelled') and (recipients_state = 'removing' or updated_at < $2)
    order by id limit 1 for no key update)
  returning id, no`;

// Locked in the order of the key, as senders do.
const LOCK_RECIPIENTS = `
  with slice as (select seq from sent_emails where campaign_no = $1 order by seq limit ${SLICE} for update)
  select min(seq) as "from", max(seq) as "to" from slice`;
const REMOVE_RECIPIENTS = "delete from sent_emails where campaign_no = $1 and seq between $2 and $3";
// A delivery ends a row of soft bounces, also once its mail is no longer kept.
const END_SOFT_BOUNCES = `
  update subscribers s set soft_bounces = 0 from sent_emails e
  where e.campaign_no = $2 and e.seq between $3 and $4 and e.status = ${SENT_EMAIL_STATUS.sent}
    and s.company_id = $1 and s.id = e.subscriber_id and s.soft_bounces > 0 and e.sent_at > s.soft_bounced_at`;
const REMOVE_COPIES = "delete from sent_email_copies where company_id = $1 and campaign_id = $2";
const REMOVE_CHUNKS = "delete from send_chunks where company_id = $1 and campaign_id = $2";
const REMOVED = "update campaigns set recipients_state = 'removed' where company_id = $1 and id = $2";

/** How many went. What they opened and clicked stays for as long as events are kept. */
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

// A part (2^20 campaign numbers of one month) goes as a table once nothing of it is kept: that costs nothing, however many
// there were.
const EMPTY_PARTS = `
  select p.no from recipient_parts p
  where p.month < date_trunc('month', now() at time zone 'UTC')
    and not exists (
      select from campaigns c where c.no >= p.no::bigint << 20 and c.no < (p.no + 1)::bigint << 20
        and c.recipients_state <> 'removed')`;
// The function looks again, behind its locks: for each of two it waits half a second at most, and others wait behind it.
const DROP_PART = "select drop_recipient_part($1) as dropped";
const LOCK_NOT_AVAILABLE = "55P03";
const DROP_TRIES = 5;
const DROP_AGAIN_MS = 2_000;

/** False: somebody reads or writes recipients all the time, or the part is in use again; the next run looks again. */
async function dropPart(no: number): Promise<boolean> {
  for (let tried = 1; ; tried++) {
    try {
      return (await queryOne<{ dropped: boolean }>(DROP_PART, [no]))!.dropped;
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
      if (tried === DROP_TRIES) return false;
      await sleep(DROP_AGAIN_MS);
    }
  }
}

async function dropEmptyParts(broker: ServiceBroker): Promise<void> {
  for (const { no } of await query<{ no: number }>(EMPTY_PARTS)) {
    if (!(await dropPart(no))) continue;
    broker.logger.info(`The table sent_emails_${no} was dropped: none of its recipients is kept any more`);
  }
}

const removeEvents = async (companyId: string, before: number, until: number): Promise<boolean> =>
  (await removeBySlices(REMOVE_EVENTS, companyId, before, until)) &&
  (await removeBySlices(REMOVE_HITS, companyId, before, until));

/** For so many companies something was looked at; what was deleted goes first. */
export async function removeOld(broker: ServiceBroker): Promise<number> {
  const { EVENTS_RETENTION_DAYS: events, SENT_EMAILS_RETENTION_DAYS: sentEmails } = config();
  const until = performance.now() + RUN_MS;
  await emptyDeleted(until);
  // Before rows are removed one by one.
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
