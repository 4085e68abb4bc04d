/** Writes of settings: with the rights that the caller has in their own transaction, and in the audit log with them. */
import type { Transaction } from "sequelize";
import { sequelize } from "../models/database/db.ts";
import { type AuditedChange, audit } from "../models/statements/audit-log.ts";
import { currentRights } from "../models/statements/current-rights.ts";
import { type Ctx, companyOf } from "./lib/caller.ts";
import { type PermittedAction, requirePermission } from "./permissions.ts";

export function permittedWrite<T>(
  ctx: Ctx,
  action: PermittedAction,
  audited: AuditedChange,
  write: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  return sequelize().transaction(async (transaction) => {
    requirePermission(action, await currentRights(ctx.meta, transaction));
    const written = await write(transaction);
    await audit(companyOf(ctx), ctx.meta, audited, transaction);
    return written;
  });
}
