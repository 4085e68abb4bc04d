/** Scheduled campaigns whose time has come start, once on any number of nodes: of two that try, one moves the row. */
import type { ServiceBroker } from "moleculer";
import { moveTo } from "../../../models/campaign-lifecycle.ts";
import { pool, query } from "../../../models/database/db.ts";
import { knock } from "../doorbell.ts";

export async function startDue(broker: ServiceBroker): Promise<number> {
  const due = await query<{ id: string }>(
    "select id from campaigns where status = 'scheduled' and scheduled_for <= now() order by scheduled_for limit 500",
  );
  let started = 0;
  for (const { id } of due) {
    if (!(await moveTo(pool(), id, "pending"))) continue;
    started += 1;
    knock(broker, "campaign.pending", { campaignId: id });
  }
  return started;
}
