/** Permission checks inside transactions. The table is services/permissions.ts. */
import type { Transaction } from "sequelize";
import { Company } from "../../models/company.ts";
import { currentRights } from "../../models/statements/current-rights.ts";
import { type Caller, companyOf } from "../lib/caller.ts";
import { notFound } from "../lib/errors.ts";
import type { Rights } from "../lib/rights.ts";
import { type PermittedAction, requirePermission } from "../permissions.ts";

/** Returns the company of the path if the caller belongs to it; any other is reported as not found. */
export function ownCompany(ctx: { meta: Caller; params: { id: string } }): string {
  const companyId = companyOf(ctx);
  if (ctx.params.id.toLowerCase() !== companyId) throw notFound();
  return companyId;
}

/**
 * Checks the caller's current permission; former members get a 404. Locks the company's row first: two owners who
 * demote each other concurrently would otherwise both find another owner, or deadlock.
 */
export async function requireCurrentRights(
  meta: Caller,
  action: PermittedAction,
  transaction: Transaction,
): Promise<Rights> {
  await lockCompany(companyOf({ meta }), transaction);
  const rights = await currentRights(meta, transaction);
  if (meta.userId && !rights.role) throw notFound();
  requirePermission(action, rights);
  return rights;
}

/** Serialises writers of a company's members, keys and settings. */
export async function lockCompany(companyId: string, transaction: Transaction): Promise<void> {
  await Company.findByPk(companyId, { attributes: ["id"], transaction, lock: transaction.LOCK.NO_KEY_UPDATE });
}
