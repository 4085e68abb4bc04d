/**
 * Starts campaigns scheduled in each recipient's time zone (models/statements/recipient-zones.ts) when the first
 * recipient is due. Until then they can be edited and cancelled. The start fixes the audience and each recipient's
 * hour; chunks then wait for that hour (release-due-chunks.ts).
 */
import type { ServiceBroker } from "moleculer";
import { moveTo } from "../../../models/campaign-lifecycle.ts";
import { sliceTransaction } from "../../../models/database/bulk.ts";
import { query, queryOne, transaction } from "../../../models/database/db.ts";
import { isQueryCanceled } from "../../../models/database/outage.ts";
import { firstInstant, type ZonedCampaign } from "../../../models/statements/recipient-zones.ts";
import { reachableStatuses } from "../../../models/statements/write-audience-slice.ts";
import { emitAndForget } from "../../call.ts";
import { isPermanent } from "../expansion/expansion-queue.ts";

/** Maximum delay for people who join later in an earlier time zone. */
const RECHECK_MS = 3_600_000;

const MAY_BE_DUE = "status = 'scheduled' and starts_at <= now()";

const FIND = `
  select id, company_id, list_id, segment_id, scheduled_for, starts_at, is_transactional from campaigns
  where ${MAY_BE_DUE} order by starts_at limit 100`;

interface DueCampaign extends ZonedCampaign {
  starts_at: Date;
  is_transactional: boolean;
}

// An edit resets it. A Date has no microseconds.
const AS_FOUND = "company_id = $1 and id = $2 and status = 'scheduled' and date_trunc('milliseconds', starts_at) = $3";
const RECHECK_LATER = `update campaigns set starts_at = $4 where ${AS_FOUND}`;

const start = ({ company_id, id, starts_at }: DueCampaign): Promise<boolean> =>
  transaction(async (client) => {
    const sql = `select from campaigns where ${AS_FOUND} for no key update`;
    return (await queryOne(sql, [company_id, id, starts_at], client)) !== undefined && moveTo(client, id, "pending");
  });

/**
 * If it cannot be determined, because the audience takes too long or is unreadable, the campaign starts: its recipients
 * wait for their hour anyway, or it ends with an error.
 */
async function isDue(campaign: DueCampaign): Promise<boolean> {
  const statuses = reachableStatuses("to_list", campaign.is_transactional);
  try {
    const first = await sliceTransaction(campaign.company_id, (client) => firstInstant(client, campaign, statuses));
    if (!first || first.getTime() <= Date.now()) return true;
    const next = new Date(Math.min(first.getTime(), Date.now() + RECHECK_MS));
    await query(RECHECK_LATER, [campaign.company_id, campaign.id, campaign.starts_at, next]);
    return false;
  } catch (error) {
    if (isQueryCanceled(error) || isPermanent(error)) return true;
    throw error;
  }
}

/** Starts campaigns with a due recipient and returns how many. */
export async function startByZone(broker: ServiceBroker): Promise<number> {
  let started = 0;
  for (const campaign of await query<DueCampaign>(FIND)) {
    if (!(await isDue(campaign)) || !(await start(campaign))) continue;
    const { id: campaignId, company_id: companyId } = campaign;
    started += 1;
    broker.logger.info({ campaignId, companyId }, "Campaign started");
    emitAndForget(broker, "campaign.pending", { campaignId });
  }
  return started;
}
