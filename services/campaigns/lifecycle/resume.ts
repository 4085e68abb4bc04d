/**
 * Resume: who failed or is in doubt (unknown) is tried again; who was sent to, bounced or is suppressed is left alone.
 *
 * The campaign moves to pending at once and its chunks are looked through in slices: the first within the request, so
 * that small campaigns are done when the answer arrives, the others by the expansion's turns (`requeue_from`). Until the
 * last slice `expanded_at` is null, so that nothing settles a campaign half requeued. It stays null where the selection of
 * recipients had to be given up in its middle (a cursor is left): the expansion then goes on from there.
 */
import { type CampaignRow, campaignView } from "../../../models/campaign.ts";
import { moveTo } from "../../../models/campaign-lifecycle.ts";
import { type Client, queryOne, transaction } from "../../../models/database/db.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { notFound, wrongState } from "../../lib/errors.ts";
import { knock } from "../doorbell.ts";

/** 20,000 recipients a slice. */
const CHUNKS_AT_ONCE = 40;

interface Requeueing {
  id: string;
  company_id: string;
  requeue_from: number;
}

/** A new fence makes whatever an older lease still wants to write void. */
const REQUEUE = `
  with chunk as (
    select no, lo, hi from send_chunks
    where company_id = $1 and campaign_id = $2 and no >= $3 order by no limit $4
  ),
  again as (
    update sent_emails e set status = 0, attempts = 0, next_attempt_at = null, error = null, smtp_response = null
    from chunk c
    where e.company_id = $1 and e.campaign_id = $2 and e.seq between c.lo and c.hi and e.status in (3, 6)
    returning c.no
  ),
  opened as (
    update send_chunks s set state = 0, marked_to = s.lo - 1, fence = s.fence + 1, owner = null, lease_until = null
    where s.company_id = $1 and s.campaign_id = $2 and s.no in (select no from again)
    returning 1
  ),
  counted as (select (select count(*) from again)::int as n, (select max(no) from chunk) as last,
    (select count(*) from chunk) as chunks, (select count(*) from opened) as opened)
  update campaigns c set
    failed_count = c.failed_count - counted.n,
    requeue_from = case when counted.chunks = $4 then counted.last + 1 end,
    expanded_at = case when counted.chunks < $4 and c.expand_cursor is null then now() end,
    updated_at = now()
  from counted
  where c.company_id = $1 and c.id = $2
  returning counted.n as requeued, c.expanded_at is not null as done`;

/** The next slice; the caller has the campaign to itself. */
export async function requeueSlice(client: Client, campaign: Requeueing): Promise<{ requeued: number; done: boolean }> {
  const { company_id, id, requeue_from } = campaign;
  return (await queryOne(REQUEUE, [company_id, id, requeue_from, CHUNKS_AT_ONCE], client))!;
}

const READ = "select * from campaigns where company_id = $1 and id = $2 for no key update";

async function refuse(client: Client, campaign: CampaignRow, companyId: string): Promise<void> {
  if (campaign.status !== "partial" && campaign.status !== "failed") {
    throw wrongState(`Only a partial or failed campaign can be resumed. This one is ${campaign.status}.`);
  }
  if (campaign.status === "partial" || campaign.sent_count > 0) return;
  const doubtful = await queryOne(
    "select seq from sent_emails where company_id = $1 and campaign_id = $2 and status = 6 limit 1",
    [companyId, campaign.id],
    client,
  );
  if (!doubtful) throw wrongState("This campaign failed before any email was sent, so it cannot be resumed.");
}

export async function resume(ctx: Ctx, campaignId: string) {
  const companyId = companyOf(ctx);
  const campaign = await transaction(async (client) => {
    const before = await queryOne<CampaignRow>(READ, [companyId, campaignId], client);
    if (!before) throw notFound();
    await refuse(client, before, companyId);
    await moveTo(client, campaignId, "pending");
    await client.query(
      `update campaigns set error = null, blocks_in_a_row = 0, expanded_at = null, requeue_from = 1
       where company_id = $1 and id = $2`,
      [companyId, campaignId],
    );
    await requeueSlice(client, { id: campaignId, company_id: companyId, requeue_from: 1 });
    return (await queryOne<CampaignRow>(READ, [companyId, campaignId], client))!;
  });
  knock(ctx, "campaign.queued", { campaignId, companyId });
  knock(ctx, "campaign.pending", { campaignId });
  return campaignView(campaign);
}
