/**
 * The audience of a campaign becomes recipients, slice by slice. A slice is one transaction: the rows, their chunks,
 * the cursor, the counters and the month's usage, so that a crash between two slices loses and doubles nobody.
 *
 * Slices of one campaign never overlap: an advisory lock is tried first, and who does not get it leaves the campaign to
 * the one that has it. It is not the campaign's row that is locked, because senders write their results to that row
 * while the expansion still runs; it is touched at the end of the transaction only.
 *
 * An error that stops a campaign does not stop its expansion: what it would not try must be counted and resumable.
 */
import type { ServiceBroker } from "moleculer";
import { type Client, query, queryOne, transaction } from "../../models/database/db.ts";
import { addEmails } from "../../models/statements/plan-usage.ts";
import { type Slice, takeMembers, takeReceivers } from "./audience.ts";
import { addChunks } from "./chunks.ts";
import { knock } from "./doorbell.ts";
import { requeueSlice } from "./resume.ts";
import { saveReceivers } from "./save-receivers.ts";
import { settle } from "./settle.ts";

/** The first slice is small, so that mail leaves at once; the others are sized to about 0.1 s. */
const FIRST_SLICE = 500;
const SLICE = 20_000;
/** Receivers are saved as subscribers before their slice, by a call that must stay short. */
const RECEIVER_SLICE = 500;

export interface Expanding {
  id: string;
  company_id: string;
  campaign_type: "to_list" | "to_receivers" | "custom";
  smtp_config_id: string;
  list_id: string | null;
  segment_id: string | null;
  is_transactional: boolean;
  expand_cursor: string | null;
  next_seq: number;
  /** Set while a resumed campaign's recipients are put back into the queue. */
  requeue_from: number | null;
}

const UNEXPANDED = `select id, company_id, campaign_type, smtp_config_id, list_id, segment_id, is_transactional,
    expand_cursor, next_seq, requeue_from
  from campaigns where id = $1 and expanded_at is null and status in ('pending', 'sending')`;

function sliceSize(campaign: Expanding): number {
  if (campaign.campaign_type !== "to_list") return RECEIVER_SLICE;
  return campaign.expand_cursor === null ? FIRST_SLICE : SLICE;
}

/** Alone with this campaign until the transaction ends, or undefined where another is. */
async function holdCampaign(client: Client, campaignId: string): Promise<Expanding | undefined> {
  const lock = await queryOne<{ held: boolean }>(
    "select pg_try_advisory_xact_lock(hashtextextended('expand:' || $1, 0)) held",
    [campaignId],
    client,
  );
  // A statement of its own: its snapshot is taken after the lock, and sees what the holder before us committed.
  return lock?.held ? queryOne<Expanding>(UNEXPANDED, [campaignId], client) : undefined;
}

interface Written {
  companyId: string;
  kept: number;
  done: boolean;
}

async function writeSlice(client: Client, campaignId: string): Promise<Written | undefined> {
  const campaign = await holdCampaign(client, campaignId);
  if (!campaign) return undefined;
  // A slice that is lost with the database's machine is lost whole, cursor and all, and is written again. None of its mail
  // can be out: a sender's lease is a later commit that is waited for, and the log is written in order.
  await client.query("set local synchronous_commit = off");
  const { company_id, requeue_from } = campaign;
  if (requeue_from !== null) {
    const { requeued, done } = await requeueSlice(client, { ...campaign, requeue_from });
    return { companyId: company_id, kept: requeued, done };
  }
  const size = sliceSize(campaign);
  const slice = await (campaign.campaign_type === "to_list" ? takeMembers : takeReceivers)(client, campaign, size);
  if (!slice) return endWithoutAudience(client, campaign);
  const done = slice.taken < size;
  await book(client, campaign, slice, done);
  return { companyId: company_id, kept: slice.kept, done };
}

/** What goes with the rows of a slice. The campaign's row is locked from here on. */
async function book(client: Client, campaign: Expanding, { kept, cursor }: Slice, done: boolean): Promise<void> {
  const { id, company_id, campaign_type, next_seq } = campaign;
  if (kept > 0) await addChunks(client, campaign, next_seq, next_seq + kept - 1);
  await query(
    `update campaigns set
       next_seq = next_seq + $3, expand_cursor = case when not $5 then coalesce($4, expand_cursor) end,
       total_emails = case when $5 then next_seq + $3 - 1 else greatest(total_emails, next_seq + $3 - 1) end,
       expanded_at = case when $5 then now() end, updated_at = now()
     where company_id = $1 and id = $2`,
    [company_id, id, kept, cursor, done],
    client,
  );
  if (kept > 0) {
    await addEmails(client, company_id, kept);
    await query("select add_count($1, 'sent_emails', $1, $2)", [company_id, kept], client);
  }
  if (!done || campaign_type === "to_list") return;
  // What the receivers held is in the recipients' rows now.
  await query("delete from campaign_receivers where company_id = $1 and campaign_id = $2", [company_id, id], client);
}

/** The list or segment was deleted. Whoever was taken before gets the mail; a campaign that never began has failed. */
async function endWithoutAudience(client: Client, campaign: Expanding): Promise<Written> {
  const { company_id, list_id, next_seq } = campaign;
  const reason = `The ${list_id ? "list" : "segment"} was deleted before the campaign started.`;
  await endHere(client, campaign, next_seq === 1 ? reason : null);
  return { companyId: company_id, kept: 0, done: true };
}

const endHere = (client: Client, { id, company_id }: Expanding, error: string | null) =>
  query(
    `update campaigns set expanded_at = now(), total_emails = next_seq - 1, error = coalesce(error, $3), updated_at = now()
     where company_id = $1 and id = $2`,
    [company_id, id, error],
    client,
  );

/** The audience cannot be read, however often it is tried: the campaign has failed, and says so. */
export async function giveUp(broker: ServiceBroker, campaignId: string): Promise<void> {
  await transaction(async (client) => {
    const campaign = await holdCampaign(client, campaignId);
    if (campaign) await endHere(client, campaign, "The recipients could not be selected.");
  });
  await settle(campaignId, broker);
}

/** Writes the next slice. "nothing": all is written already, or another node is at it. */
export async function expandSlice(broker: ServiceBroker, campaignId: string): Promise<"more" | "done" | "nothing"> {
  await saveReceivers(broker, campaignId, RECEIVER_SLICE);
  const written = await transaction((client) => writeSlice(client, campaignId));
  if (!written) return "nothing";
  const { companyId, kept, done } = written;
  if (kept > 0) knock(broker, "campaign.queued", { campaignId, companyId });
  // Senders may have been faster than the last slice, and an empty audience has no sender at all.
  if (done) await settle(campaignId, broker);
  return done ? "done" : "more";
}
