/**
 * Scheduled campaigns that reach each recipient at their own hour (models/statements/recipient-zones.ts) start when the first
 * of their audience is due. Until then they are scheduled, and may be edited and cancelled. When they start, the audience and
 * everybody's hour are fixed as the recipients are written, and chunks wait until that hour (release-due-chunks.ts).
 */
import type { ServiceBroker } from "moleculer";
import { moveTo } from "../../../models/campaign-lifecycle.ts";
import { costlyRead, isTooCostly } from "../../../models/database/bulk.ts";
import { query, queryOne, transaction } from "../../../models/database/db.ts";
import { firstInstant, type ZonedCampaign } from "../../../models/statements/recipient-zones.ts";
import { reachableStatuses } from "../../../models/statements/write-audience-slice.ts";
import { emitAndForget } from "../../call.ts";

/** People who join meanwhile, and whose hour comes earlier, are late by this at most. */
const LOOK_AGAIN_MS = 3_600_000;
/** Nobody waits for it. One whose audience takes longer starts as early as anybody's hour can come. */
const MAX_READ_MS = 30_000;

const FIND = `
  select id, company_id, list_id, segment_id, scheduled_for, starts_at, is_transactional from campaigns
  where status = 'scheduled' and starts_at <= now() order by starts_at limit 100`;

interface Found extends ZonedCampaign {
  starts_at: Date;
  is_transactional: boolean;
}

// An edit sets it anew. A Date has no microseconds.
const AS_FOUND = "company_id = $1 and id = $2 and status = 'scheduled' and date_trunc('milliseconds', starts_at) = $3";
const LOOK_LATER = `update campaigns set starts_at = $4 where ${AS_FOUND}`;

const start = ({ company_id, id, starts_at }: Found): Promise<boolean> =>
  transaction(async (client) => {
    const sql = `select from campaigns where ${AS_FOUND} for no key update`;
    return (await queryOne(sql, [company_id, id, starts_at], client)) !== undefined && moveTo(client, id, "pending");
  });

/** Undefined where it cannot be known. */
async function firstDue(campaign: Found): Promise<Date | undefined> {
  const statuses = reachableStatuses("to_list", campaign.is_transactional);
  try {
    const limits = { statementMs: MAX_READ_MS };
    return await costlyRead(campaign.company_id, (client) => firstInstant(client, campaign, statuses), limits);
  } catch (error) {
    if (!isTooCostly(error)) throw error;
    return undefined;
  }
}

/** Starts those of which somebody is due; returns how many. */
export async function startByZone(broker: ServiceBroker): Promise<number> {
  let started = 0;
  for (const campaign of await query<Found>(FIND)) {
    const { id: campaignId, company_id: companyId, starts_at } = campaign;
    const first = await firstDue(campaign);
    if (first && first.getTime() > Date.now()) {
      const next = new Date(Math.min(first.getTime(), Date.now() + LOOK_AGAIN_MS));
      await query(LOOK_LATER, [companyId, campaignId, starts_at, next]);
    } else if (await start(campaign)) {
      started += 1;
      broker.logger.info({ campaignId, companyId }, "Campaign started");
      emitAndForget(broker, "campaign.pending", { campaignId });
    }
  }
  return started;
}
