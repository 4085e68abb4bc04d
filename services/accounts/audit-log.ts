/** The audit log as owners and admins read it. */
import { listPage } from "../../models/database/listing.ts";
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import type { Ctx } from "../lib/caller.ts";
import { ownCompany } from "./permission.ts";

type Entry = ReturnsOf<"accounts.listAuditLog">["results"][number];
type Row = Omit<Entry, "at"> & { at: Date };

/** `actor`: an id or a name. */
export async function listAuditLog(ctx: Ctx<ParamsOf<"accounts.listAuditLog">>) {
  const { actor, action, since, until } = ctx.params;
  const where = ["a.company_id = $1"];
  const values: unknown[] = [ownCompany(ctx)];
  if (actor !== undefined) {
    const at = values.push(actor.trim());
    where.push(`(a.actor_id::text = lower($${at}) or lower(a.actor_name) = lower($${at}))`);
  }
  if (action !== undefined) where.push(`a.action = $${values.push(action)}`);
  if (since !== undefined) where.push(`a.at >= $${values.push(since)}`);
  if (until !== undefined) where.push(`a.at < $${values.push(until)}`);
  const { count, results } = await listPage<Row>(
    {
      from: "audit_log a",
      columns: `a.id, a.at, json_build_object('type', a.actor_type, 'id', a.actor_id, 'name', a.actor_name) as actor,
        a.action, a.target, a.ip, a.detail`,
      where,
      values,
      id: "a.id",
      orderings: { at: "a.at", action: "a.action" },
      searchIn: ["a.action", "a.actor_name", "a.target"],
    },
    ctx.params,
  );
  return { count, results: results.map((row) => ({ ...row, at: row.at.toISOString() })) };
}
