/**
 * Removes what is older than its company keeps it: events, what came back, and the recipients of campaigns at rest. In small steps, each a
 * transaction: what a crash leaves is removed by the next run, and nobody waits for a lock.
 *
 * What campaigns count stays, and so do suppressions, contents, and the campaigns themselves. Links, view and unsubscribe of
 * a mail work as long as its recipient is kept, so never less than 60 days after its campaign came to rest.
 */
import type { ServiceBroker } from "moleculer";
import { query, queryOne, transaction } from "../../models/database/db.ts";
import { config } from "../lib/config.ts";
import { firstIdAt } from "../lib/ids.ts";
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

// Once a day, and at once after the days were changed. Locked for a moment: another node takes others.
const DUE = `
  update companies set retention_done_at = now()
  where id = (
    select id from companies
    where (retention_done_at is null or retention_done_at < now() - interval '1 day')
      and (coalesce((retention_days->>'events')::int, $1) is not null
        or coalesce((retention_days->>'sent_emails')::int, $2) is not null
        or (retention_days->>'inbound')::int is not null)
    order by retention_done_at nulls first limit 1 for no key update skip locked)
  returning id, coalesce((retention_days->>'events')::int, $1) as events_days,
    coalesce((retention_days->>'sent_emails')::int, $2) as sent_emails_days, (retention_days->>'inbound')::int as inbound_days`;

/** Campaigns go on counting them, as those of erased people. */
const KEEP_CAMPAIGN_COUNTS = "set local flockmail.erasing = 'on'";

// Ids are made of times; one that a client's clock made too early is found young by its time.
const REMOVE_EVENTS = `
  delete from email_events where company_id = $1 and id in (
    select id from email_events where company_id = $1 and id < $2 and created_at < $3 order by id limit ${SLICE})`;

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

const REMOVE_RECIPIENTS = `
  delete from sent_emails where campaign_no = $1 and seq in (
    select seq from sent_emails where campaign_no = $1 order by seq limit ${SLICE})`;
const REMOVE_COPIES = "delete from sent_email_copies where company_id = $1 and campaign_id = $2";
const REMOVE_CHUNKS = "delete from send_chunks where company_id = $1 and campaign_id = $2";
const REMOVED = "update campaigns set recipients_state = 'removed' where company_id = $1 and id = $2";

async function removeRecipients(companyId: string, before: Date, until: number): Promise<boolean> {
  for (;;) {
    const campaign = await queryOne<{ id: string; no: number }>(NEXT_CAMPAIGN, [companyId, before]);
    if (!campaign) return true;
    let removed = SLICE;
    while (removed === SLICE) {
      if (performance.now() > until) return false;
      removed = await transaction(async (client) => (await client.query(REMOVE_RECIPIENTS, [campaign.no])).rowCount!);
    }
    await transaction(async (client) => {
      for (const rest of [REMOVE_COPIES, REMOVE_CHUNKS, REMOVED]) await client.query(rest, [companyId, campaign.id]);
    });
    await removeWhole(companyId, campaign.id, until);
  }
}

// A part (2^20 campaign numbers of one month) goes as a table once nothing of it is kept: that costs nothing, however many
// there were. `attached`: false while a detachment waits to be finished, null after it.
const EMPTY_PARTS = `
  select p.no, 'sent_emails_' || p.no as name, not i.inhdetachpending as attached
  from recipient_parts p
  left join pg_inherits i on i.inhparent = 'sent_emails'::regclass and i.inhrelid = to_regclass('sent_emails_' || p.no)
  where p.month < date_trunc('month', now() at time zone 'UTC')
    and not exists (
      select from campaigns c where c.no >= p.no::bigint << 20 and c.no < (p.no + 1)::bigint << 20
        and c.recipients_state <> 'removed')`;

async function dropEmptyParts(broker: ServiceBroker): Promise<void> {
  for (const { no, name, attached } of await query<{ no: number; name: string; attached: boolean | null }>(
    EMPTY_PARTS,
  )) {
    // Concurrently: whoever reads or writes other parts is not kept waiting. Cut off in the middle it is finished next time.
    if (attached !== null) {
      await query(`alter table sent_emails detach partition ${name} ${attached ? "concurrently" : "finalize"}`);
    }
    await query(`drop table if exists ${name}`);
    await query("delete from recipient_parts where no = $1", [no]);
    broker.logger.info(`The table ${name} was dropped: none of its recipients is kept any more`);
  }
}

/** For so many companies something was looked at; what was deleted goes first. */
export async function removeOld(broker: ServiceBroker): Promise<number> {
  const { EVENTS_RETENTION_DAYS: events, SENT_EMAILS_RETENTION_DAYS: sentEmails } = config();
  const until = performance.now() + RUN_MS;
  await emptyDeleted(until);
  let companies = 0;
  while (performance.now() < until) {
    const due = await queryOne<Due>(DUE, [events ?? null, sentEmails ?? null]);
    if (!due) break;
    companies++;
    const { id, events_days, sent_emails_days, inbound_days } = due;
    const daysAgo = (days: number) => Date.now() - days * DAY_MS;
    const isDone =
      (events_days === null || (await removeBySlices(REMOVE_EVENTS, id, daysAgo(events_days), until))) &&
      (inbound_days === null || (await removeBySlices(REMOVE_INBOUND, id, daysAgo(inbound_days), until))) &&
      (sent_emails_days === null || (await removeRecipients(id, new Date(daysAgo(sent_emails_days)), until)));
    if (!isDone) await query("update companies set retention_done_at = null where id = $1", [id]);
  }
  if (companies > 0) await dropEmptyParts(broker);
  return companies;
}
