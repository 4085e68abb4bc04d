/** The audit log as owners and admins read it. */
import { listPage } from "../../models/database/listing.ts";
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import type { Ctx } from "../lib/caller.ts";
import { firstIdAt, isUuid } from "../lib/ids.ts";
import { ownCompany } from "./permission.ts";

type Entry = ReturnsOf<"accounts.listAuditLog">["results"][number];
type Row = Omit<Entry, "at"> & { at: Date };

/** Ids carry their time, made on whatever node: the index on them narrows a period down, `at` decides. */
const CLOCK_SKEW_MS = 60_000;

/** `actor`: an id or a name. */
export async function listAuditLog(ctx: Ctx<ParamsOf<"accounts.listAuditLog">>) {
  const { actor, action, since, until } = ctx.params;
  const where = ["a.company_id = $1"];
  const values: unknown[] = [ownCompany(ctx)];
  if (actor !== undefined) {
    const at = values.push(actor.trim());
    const byId = isUuid(actor.trim()) ? `a.actor_id = $${values.push(actor.trim())}::uuid or ` : "";
    where.push(`(${byId}lower(a.actor_name) = lower($${at}))`);
  }
  if (action !== undefined) where.push(`a.action = $${values.push(action)}`);
  if (since !== undefined) {
    where.push(`a.at >= $${values.push(since)}`);
    where.push(`a.id >= $${values.push(firstIdAt(Date.parse(since) - CLOCK_SKEW_MS))}`);
  }
  if (until !== undefined) {
    where.push(`a.at < $${values.push(until)}`);
    where.push(`a.id < $${values.push(firstIdAt(Date.parse(until) + CLOCK_SKEW_MS))}`);
  }
  const { results, ...page } = await listPage<Row>(
    {
      from: "audit_log a",
      columns: `a.id, a.at, json_build_object('type', a.actor_type, 'id', a.actor_id, 'name', a.actor_name) as actor,
        a.action, a.target, a.ip, a.detail`,
      where,
      values,
      id: "a.id",
      // An entry's id is made when it is written.
      orderings: { at: "a.id", action: "a.action" },
      searchIn: ["a.action", "a.actor_name", "a.target"],
      large: true,
    },
    ctx.params,
  );
  return { ...page, results: results.map((row) => ({ ...row, at: row.at.toISOString() })) };
}
