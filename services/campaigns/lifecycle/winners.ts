/** Decides the winners of due A/B tests, each once on any number of nodes: nodes take turns at its row lock. */
import type { ServiceBroker } from "moleculer";
import { transaction } from "../../../models/database/db.ts";
import { decideWinner, dueForDecision } from "../../../models/statements/decide-winner.ts";
import { emitAndForget } from "../../call.ts";

export async function decideWinners(broker: ServiceBroker): Promise<number> {
  let decided = 0;
  for (const due of await dueForDecision()) {
    const winner = await transaction((client) => decideWinner(client, due));
    if (winner === undefined) continue;
    decided += 1;
    const { campaign_id: campaignId, company_id: companyId } = due;
    broker.logger.info({ campaignId, companyId, winner }, "A/B test winner decided");
    emitAndForget(broker, "campaign.queued", { campaignId, companyId });
  }
  return decided;
}
