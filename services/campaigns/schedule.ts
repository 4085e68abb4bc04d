/** Scheduled campaigns whose time has come start, once on any number of nodes: of two that try, one moves the row. */
import type { ServiceBroker } from "moleculer";
import { moveTo } from "../../models/campaign-lifecycle.ts";
import { pool, query } from "../../models/database/db.ts";
import { knock } from "./doorbell.ts";

export async function startDue(broker: ServiceBroker): Promise<number> {
  const due = await query<{ id: string; company_id: string }>(
    "select id, company_id from campaigns where status = 'scheduled' and scheduled_for <= now() order by scheduled_for limit 500",
  );
  let started = 0;
  for (const { id, company_id } of due) {
    if (!(await moveTo(pool(), id, "pending"))) continue;
    started += 1;
    broker.logger.info({ campaignId: id, companyId: company_id }, "Campaign started");
    knock(broker, "campaign.pending", { campaignId: id });
  }
  return started;
}
