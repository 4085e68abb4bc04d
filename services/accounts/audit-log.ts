/** Lists the audit log for owners and admins. */
import { isOneOf, listPage } from "../../models/database/listing.ts";
import { boundOf } from "../../models/statements/time-zones.ts";
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import type { Ctx } from "../lib/caller.ts";
import { firstIdAt, isUuid } from "../lib/ids.ts";
import { ownCompany } from "./permission.ts";

type Entry = ReturnsOf<"accounts.listAuditLog">["results"][number];
type Row = Omit<Entry, "at"> & { at: Date };

/** Ids contain their creation time, so the primary key narrows the period; `at` decides exactly. */
const CLOCK_SKEW_MS = 60_000;

/** `actor` is an id or a name. */
export async function listAuditLog(ctx: Ctx<ParamsOf<"accounts.listAuditLog">>) {
  const { actor, action, since, until } = ctx.params;
  const where = ["a.company_id = $1"];
  const companyId = ownCompany(ctx);
  const values: unknown[] = [companyId];
  const isBy = (given: string) => {
    const byName = `lower(a.actor_name) = lower($${values.push(given)})`;
    return isUuid(given) ? `${byName} or a.actor_id = $${values.push(given)}::uuid` : byName;
  };
  const actors = [actor ?? []].flat();
  if (actors.length > 0) where.push(`(${actors.map((one) => isBy(one.trim())).join(" or ")})`);
  if (action !== undefined) where.push(isOneOf("a.action", action, values));
  if (since !== undefined) {
    const from = await boundOf(companyId, since);
    where.push(`a.at >= $${values.push(from)}`);
    where.push(`a.id >= $${values.push(firstIdAt(from.getTime() - CLOCK_SKEW_MS))}`);
  }
  if (until !== undefined) {
    const before = await boundOf(companyId, until);
    where.push(`a.at < $${values.push(before)}`);
    where.push(`a.id < $${values.push(firstIdAt(before.getTime() + CLOCK_SKEW_MS))}`);
  }
  const { results, ...page } = await listPage<Row>(
    {
      from: "audit_log a",
      columns: `a.id, a.at, json_build_object('type', a.actor_type, 'id', a.actor_id, 'name', a.actor_name) as actor,
        a.action, a.target, a.ip, a.detail`,
      where,
      values,
      id: "a.id",
      // Entry ids are created when the entry is written.
      orderings: { at: "a.id", action: "a.action" },
      searchIn: ["a.action", "a.actor_name", "a.target"],
      large: true,
    },
    ctx.params,
  );
  return { ...page, results: results.map((row) => ({ ...row, at: row.at.toISOString() })) };
}
