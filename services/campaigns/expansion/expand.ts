/**
 * Writes the recipients of a campaign, slice by slice. A slice is one transaction: the rows, their chunks, the cursor, the
 * counters and the month's usage, so that a crash between two slices loses and doubles nobody.
 *
 * Slices of one campaign never overlap: an advisory lock is tried first, and a node that does not get it leaves the
 * campaign to the node that has it. The campaign's row itself is not locked, because senders write their results to it
 * while the expansion still runs; it is touched at the end of the transaction only.
 *
 * The month's quota is charged here. Who finds no room in it is counted, as failed and without a row (`unwritten`), up to the
 * end of the audience; the cursor stays where the rows end, and a resumed campaign is written on from there.
 *
 * An error that stops a campaign does not stop its expansion: recipients that will not be tried must still be counted, and
 * are sent to where the campaign may be resumed.
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
import { addChunksByVariant, dealNext } from "./deal-variants.ts";

/** The first slice is small, so that mail leaves at once; the others are sized to about 0.1 s. Receivers bring all of their data. */
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

// The campaign's month is the one in which this runs. Nobody sends for it yet, so nobody waits for its row.
const BEGIN = `
  update campaigns set expansion_began_at = now(),
    no = next_campaign_no()
  where company_id = $1 and id = $2 and expansion_began_at is null
  returning id`;
// A transaction that takes an address away waits until the slice is written, and finds its rows.
const HOLD_ADDRESSES = "select pg_advisory_xact_lock_shared(hashtextextended('addresses:' || $1, 0))";

/** $4: the cursor where the rows end, $6: where those end that were counted only, $7: their number, $8: left out. */
const BOOK_SLICE = `
  update campaigns set
    next_seq = next_seq + $3, unwritten = unwritten + $7, failed_count = failed_count + $7,
    suppressed_count = suppressed_count + $8,
    expand_cursor = case when not $5 or unwritten + $7 > 0 then coalesce($4, expand_cursor) end,
    unwritten_cursor = case when not $5 then $6 end,
    total_emails = case when $5 then next_seq + $3 - 1 + unwritten + $7
      else greatest(total_emails, next_seq + $3 - 1 + unwritten + $7) end,
    expanded_at = case when $5 then now() end, updated_at = now()
  where company_id = $1 and id = $2`;

// Their data is in the recipients' rows by now.
const DROP_RECEIVERS =
  "delete from campaign_receivers where company_id = $1 and campaign_id = $2 and no <= coalesce($3::int, no)";

function sliceSize({ campaign_type, expand_cursor, unwritten_cursor }: ExpandingCampaign): number {
  if ((unwritten_cursor ?? expand_cursor) === null) return FIRST_SLICE;
  return campaign_type === "to_list" ? SLICE : SLICE_OF_RECEIVERS;
}

/** Holds the campaign until the transaction ends; undefined if another node does. */
async function holdCampaign(client: Client, campaignId: string): Promise<ExpandingCampaign | undefined> {
  const lock = await queryOne<{ held: boolean }>(
    "select pg_try_advisory_xact_lock(hashtextextended('expand:' || $1, 0)) held",
    [campaignId],
    client,
  );
  // A separate statement: its snapshot is taken after the lock, and sees what the previous holder committed.
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
  const campaign = await holdCampaign(client, campaignId);
  if (!campaign) return undefined;
  const { company_id, requeue_from } = campaign;
  const take = takerOf(campaign);
  const isByKey = requeue_from === null && take === takeReceivers;
  // If the database's machine dies, a slice is lost whole, cursor included, and is written again. None of its mail can have
  // been sent: a sender's lease is a later, synchronous commit, and the WAL is written in order.
  await client.query(localSettings({ synchronous_commit: "off", ...(isByKey ? BY_KEY : {}) }));
  if (requeue_from !== null) {
    const { requeued, done } = await requeueSlice(client, { ...campaign, requeue_from });
    return { companyId: company_id, kept: requeued, done };
  }
  if (campaign.next_seq === 1) {
    const begun = await queryOne(BEGIN, [company_id, campaign.id], client);
    if (begun && campaign.variants) await fixVariants(client, company_id, campaign.id);
  }
  await query(HOLD_ADDRESSES, [company_id], client);
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
    dealt: isCounting ? undefined : dealNext(campaign, limit),
  };
  const slice = await take(client, campaign, size);
  if (!slice) return endWithoutAudience(client, campaign);
  const done = slice.taken < size.limit;
  if (slice.kept > 0) await chunkSlice(client, campaign, slice, size);
  await bookSlice(client, campaign, { slice, done, isCounting: isCounting || slice.left > 0, room });
  return { companyId: company_id, kept: slice.kept, done };
}

async function chunkSlice(
  client: Client,
  campaign: ExpandingCampaign,
  { kept, dues }: Slice,
  { dealt }: SliceSize,
): Promise<void> {
  const { next_seq } = campaign;
  if (dealt) await addChunksByVariant(client, campaign, dealt, kept);
  else await addChunks(client, campaign, runsByTime(next_seq, dues ?? [{ due: null, count: kept }]));
}

interface Book {
  slice: Slice;
  done: boolean;
  /** From here on recipients are counted only. */
  isCounting: boolean;
  room: MonthRoom;
}

/** Writes what belongs to the rows of a slice. The campaign's row is locked from here on. */
async function bookSlice(client: Client, campaign: ExpandingCampaign, book: Book): Promise<void> {
  const { id, company_id, campaign_type } = campaign;
  const { slice, done, isCounting, room } = book;
  const { kept, cursor } = slice;
  const [rowsTo, countedTo] = isCounting ? [slice.written_to, cursor ?? campaign.unwritten_cursor] : [cursor, null];
  await query(BOOK_SLICE, [company_id, id, kept, rowsTo, done, countedTo, slice.left, slice.suppressed], client);
  if (kept > 0) await chargeMonth(client, company_id, slice.mails, room);
  const rows = kept + (campaign_type === "to_list" ? 0 : slice.suppressed);
  if (rows > 0) await query("select add_count($1, 'sent_emails', $1, $2)", [company_id, rows], client);
  if (takerOf(campaign) !== takeReceivers) return;
  // Those who were only counted may be written yet, unless nothing was sent at all: such a campaign is never resumed.
  const upTo = isCounting ? (slice.written_to ?? campaign.expand_cursor) : done ? null : cursor;
  if (done || rowsTo !== null) await query(DROP_RECEIVERS, [company_id, id, upTo && Number(upTo)], client);
}

/** What the audience is read from was deleted. Recipients written before get the mail; a campaign without any has failed. */
async function endWithoutAudience(client: Client, campaign: ExpandingCampaign): Promise<Written> {
  const { company_id, list_id, resend_of, next_seq } = campaign;
  const what = resend_of ? "campaign that it repeats, or its list," : list_id ? "list" : "segment";
  const reason = `The ${what} was deleted before the campaign started.`;
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

/** The audience can never be read: the campaign fails with an error that says so. */
export async function failExpansion(broker: ServiceBroker, campaignId: string): Promise<void> {
  await transaction(async (client) => {
    const campaign = await holdCampaign(client, campaignId);
    if (campaign) await endExpansion(client, campaign, "The recipients could not be selected.");
  });
  await settle(campaignId, broker);
}

/** Each time another slice or mail of the company was charged: after these the campaign's turn comes again by itself. */
const MAX_TRIES = 5;

async function writeWithinQuota(campaignId: string, owner?: string): Promise<Written | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      return await sliceTransaction(owner, (client) => writeSlice(client, campaignId));
    } catch (error) {
      if (!(error instanceof RoomWasTaken) || tries === MAX_TRIES) throw error;
    }
  }
}

/**
 * Writes the next slice. "nothing": all is written already, or another node holds the campaign. With `owner`, the company's
 * id, its connection is one of the company's share.
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
  // Senders may have been faster than the last slice, and an empty audience has no sender at all.
  if (done) await settle(campaignId, broker);
  return done ? "done" : "more";
}
