/**
 * Removes the data of deleted campaigns in the background: events, copies and what recipients hold beyond the address.
 * Works in small transactions; the next run continues what one leaves.
 */
import { campaignNo } from "../../models/database/campaign-no.ts";
import { query, queryOne, transaction } from "../../models/database/db.ts";

const SLICE = 5_000;
/** Below every recipient's number. */
const LOWEST = -(2 ** 31);

interface Deleted {
  id: string;
  company_id: string;
  /** Null if its expansion never began. */
  no: number | null;
  recipients_state: string;
}

// Copies that wait for a retry are built from the message's row, so such rows must stay.
const NEXT = `
  select id, company_id, no, recipients_state from campaigns c
  where deleted_at is not null and emptied_at is null
    and not exists (select from sent_email_copies k
      where k.company_id = c.company_id and k.campaign_id = c.id and k.next_attempt_at is not null)
  order by company_id, id limit 1`;

const REMOVE_EVENTS = `
  delete from email_events where company_id = $1 and id in (
    select id from email_events where company_id = $1 and campaign_id = $2 order by id limit ${SLICE})`;

const REMOVE_HITS = `
  delete from hits h using (
    select id, campaign_no, seq from hits where campaign_no = ${campaignNo("$2", "$1")} limit ${SLICE}) g
  where hit_mail(h.campaign_no, h.seq) = hit_mail(g.campaign_no, g.seq) and h.id = g.id`;

const STRIP = `
  with slice as (select seq from sent_emails where campaign_no = $1 and seq > $2::integer order by seq limit ${SLICE}),
  stripped as (
    update sent_emails s set variables = null, cc = null, bcc = null, error = null, smtp_response = null
    from slice where s.campaign_no = $1 and s.seq = slice.seq
      and (s.variables is not null or s.cc is not null or s.bcc is not null or s.error is not null
        or s.smtp_response is not null))
  select max(seq) as last from slice`;

// Delete counters last: removing events also subtracts from them.
const REMAINING = [
  "delete from sent_email_copies where company_id = $1 and campaign_id = $2",
  "delete from campaign_receivers where company_id = $1 and campaign_id = $2",
  "delete from campaign_counts where company_id = $1 and campaign_id = $2",
  "update campaigns set emptied_at = now() where company_id = $1 and id = $2",
];
const WHOLE = `
  delete from campaigns
  where company_id = $1 and id = $2 and deleted_at is not null and emptied_at is not null and recipients_state = 'removed'`;

/** Removes events, including those that arrived after the campaign was emptied. */
async function removeEvents(companyId: string, campaignId: string, until: number): Promise<boolean> {
  for (const slice of [REMOVE_EVENTS, REMOVE_HITS]) {
    for (let removed = SLICE; removed === SLICE; ) {
      if (performance.now() > until) return false;
      removed = await transaction(async (client) => (await client.query(slice, [companyId, campaignId])).rowCount!);
    }
  }
  return true;
}

async function empty({ id, company_id, no }: Deleted, until: number): Promise<boolean> {
  if (!(await removeEvents(company_id, id, until))) return false;
  for (let after: number | null = LOWEST; after !== null; ) {
    if (performance.now() > until) return false;
    after = (await queryOne<{ last: number | null }>(STRIP, [no, after]))!.last;
  }
  await transaction(async (client) => {
    for (const rest of REMAINING) await client.query(rest, [company_id, id]);
  });
  return true;
}

/** Removes a deleted campaign once its recipients are deleted. */
export async function removeWhole(companyId: string, campaignId: string, until: number): Promise<void> {
  const isEmptied = "select from campaigns where company_id = $1 and id = $2 and emptied_at is not null";
  if (!(await queryOne(isEmptied, [companyId, campaignId]))) return;
  if (!(await removeEvents(companyId, campaignId, until))) return;
  await transaction(async (client) => {
    for (const rest of [...REMAINING, WHOLE]) await client.query(rest, [companyId, campaignId]);
  });
}

/** Returns how many campaigns were emptied by then. */
export async function emptyDeleted(until: number): Promise<number> {
  for (let emptied = 0; ; emptied++) {
    const [campaign] = await query<Deleted>(NEXT);
    if (!campaign || !(await empty(campaign, until))) return emptied;
    if (campaign.recipients_state === "removed") await removeWhole(campaign.company_id, campaign.id, until);
  }
}
