/** Permissions within a company, where it is written: the table is services/permissions.ts. */
import type { Transaction } from "sequelize";
import { Company } from "../../models/company.ts";
import { currentRights } from "../../models/statements/current-rights.ts";
import { type Caller, companyOf } from "../lib/caller.ts";
import { notFound } from "../lib/errors.ts";
import type { Rights } from "../lib/rights.ts";
import { type PermittedAction, requirePermission } from "../permissions.ts";

/** The company of the path, when it is the caller's; any other does not exist for her. */
export function ownCompany(ctx: { meta: Caller; params: { id: string } }): string {
  const companyId = companyOf(ctx);
  if (ctx.params.id.toLowerCase() !== companyId) throw notFound();
  return companyId;
}

/**
 * What the caller may do at this moment; whoever is no member any more finds no company. The company's row is locked first:
 * two owners who demote each other at the same moment would otherwise both find another owner left, or wait for each other.
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

/** Writers of members, keys and settings of one company come one after the other. */
export async function lockCompany(companyId: string, transaction: Transaction): Promise<void> {
  await Company.findByPk(companyId, { attributes: ["id"], transaction, lock: transaction.LOCK.NO_KEY_UPDATE });
}
