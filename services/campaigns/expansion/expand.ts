/**
 * Writes the recipients of a campaign slice by slice.
 *
 * A slice is one transaction: rows, chunks, cursor, counters and the month's usage, so that a crash neither loses nor
 * duplicates recipients. An advisory lock keeps slices of one campaign from overlapping; a node that does not get it
 * moves on. The campaign's row is locked only at the end of the transaction, because senders write results to it during
 * expansion.
 *
 * The monthly quota is charged here. Recipients beyond it are counted as failed without a row (`unwritten`) up to the
 * end of the audience; the cursor stays at the last written row, where a resume continues.
 *
 * An error that stops a campaign does not stop its expansion: recipients must still be counted, and are needed for a
 * resume.
 */
import type { ServiceBroker } from "moleculer";
import { sliceTransaction } from "../../../models/database/bulk.ts";
import { BY_KEY } from "../../../models/database/by-key.ts";
import { type Client, query, queryOne, transaction } from "../../../models/database/db.ts";
import { localSettings } from "../../../models/database/session-settings.ts";
import { addChunks, runsByTime } from "../../../models/statements/add-chunks.ts";
import { fixVariants } from "../../../models/statements/campaign-variants.ts";
import { chargeMonth, type MonthRoom, RoomWasTaken, roomThisMonth } from "../../../models/statements/monthly-quota.ts";
import { requeueSlice } from "../../../models/statements/requeue-recipients.ts";
import { saveReceivers } from "../../../models/statements/save-receivers.ts";
import {
  type ExpandingCampaign,
  type Slice,
  type SliceSize,
  takeMembers,
  takeReceivers,
} from "../../../models/statements/write-audience-slice.ts";
import { emitAndForget } from "../../call.ts";
import { settle } from "../lifecycle/settle.ts";
import { takeNonOpeners } from "../send/non-openers.ts";
import { addChunksByVariant, assignNext } from "./assign-variants.ts";

/**
 * A small first slice lets sending start at once; the others are limited in duration. Receivers contain all of their
 * data.
 */
const FIRST_SLICE = 500;
const SLICE = 20_000;
const SLICE_OF_RECEIVERS = 2_500;

const UNEXPANDED = `select id, company_id, campaign_type, smtp_config_id, list_id, segment_id, is_transactional,
    expand_cursor, unwritten_cursor, next_seq, requeue_from, resend_of, timezone, scheduled_for,
    (select json_agg(json_build_object('percent', v.percent, 'recipients', v.recipients) order by v.index)
      from campaign_variants v
      where v.company_id = campaigns.company_id and v.campaign_id = campaigns.id and not exists (
        select from campaign_winners w
        where w.company_id = campaigns.company_id and w.campaign_id = campaigns.id and w.winner is not null)) as variants
  from campaigns where id = $1 and expanded_at is null and status in ('pending', 'sending')`;

// The campaign is charged to the month in which this runs. No sender uses its row yet, so locking it blocks nobody.
const BEGIN = `
  update campaigns set expansion_began_at = now(),
    no = next_campaign_no()
  where company_id = $1 and id = $2 and expansion_began_at is null
  returning id`;
// Makes transactions that remove an address wait until the slice is written, so that they find its rows.
const LOCK_ADDRESSES = "select pg_advisory_xact_lock_shared(hashtextextended('addresses:' || $1, 0))";

/** $4: cursor of the last written row, $6: cursor of the last counted recipient, $7: their number, $8: skipped. */
const RECORD_SLICE = `
  update campaigns set
    next_seq = next_seq + $3, unwritten = unwritten + $7, failed_count = failed_count + $7,
    suppressed_count = suppressed_count + $8,
    expand_cursor = case when not $5 or unwritten + $7 > 0 then coalesce($4, expand_cursor) end,
    unwritten_cursor = case when not $5 then $6 end,
    total_emails = case when $5 then next_seq + $3 - 1 + unwritten + $7
      else greatest(total_emails, next_seq + $3 - 1 + unwritten + $7) end,
    expanded_at = case when $5 then now() end, updated_at = now()
  where company_id = $1 and id = $2`;

// Deletes receivers whose data has been copied to the recipients' rows.
const DROP_RECEIVERS =
  "delete from campaign_receivers where company_id = $1 and campaign_id = $2 and no <= coalesce($3::int, no)";

function sliceSize({ campaign_type, expand_cursor, unwritten_cursor }: ExpandingCampaign): number {
  if ((unwritten_cursor ?? expand_cursor) === null) return FIRST_SLICE;
  return campaign_type === "to_list" ? SLICE : SLICE_OF_RECEIVERS;
}

/** Locks the campaign for the transaction; undefined if another node holds it. */
async function lockCampaign(client: Client, campaignId: string): Promise<ExpandingCampaign | undefined> {
  const lock = await queryOne<{ held: boolean }>(
    "select pg_try_advisory_xact_lock(hashtextextended('expand:' || $1, 0)) held",
    [campaignId],
    client,
  );
  // A separate statement, so that its snapshot is taken after the lock and sees the previous holder's commit.
  return lock?.held ? queryOne<ExpandingCampaign>(UNEXPANDED, [campaignId], client) : undefined;
}

function takerOf({ campaign_type, resend_of }: ExpandingCampaign) {
  if (resend_of !== null) return takeNonOpeners;
  return campaign_type === "to_list" ? takeMembers : takeReceivers;
}

interface Written {
  companyId: string;
  kept: number;
  done: boolean;
}

async function writeSlice(client: Client, campaignId: string): Promise<Written | undefined> {
  const campaign = await lockCampaign(client, campaignId);
  if (!campaign) return undefined;
  const { company_id, requeue_from } = campaign;
  const take = takerOf(campaign);
  const isByKey = requeue_from === null && take === takeReceivers;
  // If the database host crashes, the whole slice is lost, cursor included, and written again. None of it can have been
  // sent: a sender's lease is a later, synchronous commit, and WAL is written in order.
  await client.query(localSettings({ synchronous_commit: "off", ...(isByKey ? BY_KEY : {}) }));
  if (requeue_from !== null) {
    const { requeued, done } = await requeueSlice(client, { ...campaign, requeue_from });
    return { companyId: company_id, kept: requeued, done };
  }
  if (campaign.next_seq === 1) {
    const begun = await queryOne(BEGIN, [company_id, campaign.id], client);
    if (begun && campaign.variants) await fixVariants(client, company_id, campaign.id);
  }
  await query(LOCK_ADDRESSES, [company_id], client);
  const isCounting = campaign.unwritten_cursor !== null;
  const limit = sliceSize(campaign);
  if (take === takeReceivers && !isCounting) {
    const after = Number(campaign.expand_cursor ?? 0);
    await saveReceivers(client, { companyId: company_id, campaignId, after, limit });
  }
  const room = await roomThisMonth(client, company_id);
  const size = {
    limit,
    room: isCounting ? undefined : room.mails,
    assigned: isCounting ? undefined : assignNext(campaign, limit),
  };
  const slice = await take(client, campaign, size);
  if (!slice) return endWithoutAudience(client, campaign);
  const isLastSlice = slice.taken < size.limit;
  if (slice.kept > 0) await chunkSlice(client, campaign, slice, size);
  await recordSlice(client, campaign, { slice, done: isLastSlice, isCounting: isCounting || slice.left > 0, room });
  return { companyId: company_id, kept: slice.kept, done: isLastSlice };
}

async function chunkSlice(
  client: Client,
  campaign: ExpandingCampaign,
  { kept, dues }: Slice,
  { assigned }: SliceSize,
): Promise<void> {
  const { next_seq } = campaign;
  if (assigned) await addChunksByVariant(client, campaign, assigned, kept);
  else await addChunks(client, campaign, runsByTime(next_seq, dues ?? [{ due: null, count: kept }]));
}

interface SliceRecord {
  slice: Slice;
  done: boolean;
  /** True from the first recipient that is only counted. */
  isCounting: boolean;
  room: MonthRoom;
}

/** Writes everything that belongs to the rows of a slice. Locks the campaign's row from here on. */
async function recordSlice(client: Client, campaign: ExpandingCampaign, record: SliceRecord): Promise<void> {
  const { id, company_id, campaign_type } = campaign;
  const { slice, done, isCounting, room } = record;
  const { kept, cursor } = slice;
  const [rowsTo, countedTo] = isCounting ? [slice.written_to, cursor ?? campaign.unwritten_cursor] : [cursor, null];
  await query(RECORD_SLICE, [company_id, id, kept, rowsTo, done, countedTo, slice.left, slice.suppressed], client);
  if (kept > 0) await chargeMonth(client, company_id, slice.mails, room);
  const rows = kept + (campaign_type === "to_list" ? 0 : slice.suppressed);
  if (rows > 0) await query("select add_count($1, 'sent_emails', $1, $2)", [company_id, rows], client);
  if (takerOf(campaign) !== takeReceivers) return;
  // Counted recipients may still be written by a resume, unless nothing was sent at all.
  const upTo = isCounting ? (slice.written_to ?? campaign.expand_cursor) : done ? null : cursor;
  if (done || rowsTo !== null) await query(DROP_RECEIVERS, [company_id, id, upTo && Number(upTo)], client);
}

/** The list or segment was deleted. Recipients written before are still sent to; a campaign without any fails. */
async function endWithoutAudience(client: Client, campaign: ExpandingCampaign): Promise<Written> {
  const { company_id, list_id, resend_of, next_seq } = campaign;
  const missing = resend_of ? "campaign that it repeats, or its list," : list_id ? "list" : "segment";
  const reason = `The ${missing} was deleted before the campaign started.`;
  await endExpansion(client, campaign, next_seq === 1 ? reason : null);
  return { companyId: company_id, kept: 0, done: true };
}

const endExpansion = (client: Client, { id, company_id }: ExpandingCampaign, error: string | null) =>
  query(
    `update campaigns set expanded_at = now(), unwritten_cursor = null, total_emails = next_seq - 1 + unwritten,
       error = coalesce(error, $3), updated_at = now()
     where company_id = $1 and id = $2`,
    [company_id, id, error],
    client,
  );

/** Fails the campaign, because its audience can never be read. */
export async function failExpansion(broker: ServiceBroker, campaignId: string): Promise<void> {
  await transaction(async (client) => {
    const campaign = await lockCampaign(client, campaignId);
    if (campaign) await endExpansion(client, campaign, "The recipients could not be selected.");
  });
  await settle(campaignId, broker);
}

/**
 * Attempts after conflicts, each of which means that another transaction of the company succeeded. After that the
 * campaign waits for its next round.
 */
const MAX_ATTEMPTS = 5;

async function writeWithinQuota(campaignId: string, owner?: string): Promise<Written | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      return await sliceTransaction(owner, (client) => writeSlice(client, campaignId));
    } catch (error) {
      if (!(error instanceof RoomWasTaken) || tries === MAX_ATTEMPTS) throw error;
    }
  }
}

/**
 * Writes the next slice. Returns "nothing" if everything is written or another node has locked the campaign. With
 * `owner` (a company id) the connection counts against that company's share.
 */
export async function expandSlice(
  broker: ServiceBroker,
  campaignId: string,
  owner?: string,
): Promise<"more" | "done" | "nothing"> {
  const written = await writeWithinQuota(campaignId, owner);
  if (!written) return "nothing";
  const { companyId, kept, done } = written;
  if (kept > 0) emitAndForget(broker, "campaign.queued", { campaignId, companyId });
  // Senders may have finished the last slice already, and an empty audience has no sender at all.
  if (done) await settle(campaignId, broker);
  return done ? "done" : "more";
}
