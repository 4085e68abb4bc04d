/** Exports all data about one person. */
import { queryOne, transaction } from "../../models/database/db.ts";
import { auditWithin } from "../../models/statements/audit-log.ts";
import { personData } from "../../models/statements/person-data.ts";
import type { ReturnsOf } from "../contracts.ts";
import { type Ctx, companyOf } from "../lib/caller.ts";
import { getSubscriber } from "./subscriber.ts";

export async function exportPerson(ctx: Ctx<{ id: string }>): Promise<ReturnsOf<"subscribers.exportPerson">> {
  const companyId = companyOf(ctx);
  const subscriber = await transaction(async (client) => {
    const found = await getSubscriber(companyId, ctx.params.id, client);
    // Audit before any data is returned.
    await auditWithin(client, companyId, ctx.meta, { action: "subscribers.exported", target: found.id });
    return found;
  });
  const soft = await queryOne<{ n: number }>("select soft_bounces_in_a_row($1, $2) n", [companyId, subscriber.email]);
  const { rows, truncated } = await personData(companyId, subscriber);
  return { exported_at: new Date().toISOString(), subscriber, soft_bounces: soft!.n, ...rows, truncated };
}
