/**
 * Deletes a company. The request revokes all access and stops all sending at once; a background job removes the rows
 * (models/statements/remove-company.ts). User accounts are kept.
 */
import type { ServiceBroker } from "moleculer";
import type { Transaction } from "sequelize";
import { ApiKey } from "../../models/api-key.ts";
import { Campaign } from "../../models/campaign.ts";
import { Company } from "../../models/company.ts";
import { sequelize } from "../../models/database/db.ts";
import { Membership } from "../../models/membership.ts";
import { SmtpConfig } from "../../models/smtp-config.ts";
import { deletedCompanies, removeStep } from "../../models/statements/remove-company.ts";
import { TrackingDomain } from "../../models/tracking-domain.ts";
import { WebhookEndpoint } from "../../models/webhook-endpoint.ts";
import { broadcast } from "../call.ts";
import type { Ctx } from "../lib/caller.ts";
import { forbidden } from "../lib/errors.ts";
import { apiLimiter } from "../lib/limits/api-limiter.ts";
import { apiCallsToday, hourWindow, secondWindow } from "../lib/limits/limiter.ts";
import { isOwnPassword } from "./people/own-password.ts";
import { ownCompany, requireCurrentRights } from "./permission.ts";

const STOPPED = "The company was deleted.";

interface RevokedAccess {
  users: string[];
  keys: string[];
  servers: string[];
}

async function stopCampaigns(companyId: string, transaction: Transaction): Promise<void> {
  await Campaign.update({ status: "cancelled" }, { where: { companyId, status: "scheduled" }, transaction });
  // Senders check this before each message and claim no more recipients.
  const where = { companyId, status: ["pending", "sending"], error: null };
  await Campaign.update({ error: STOPPED }, { where, transaction });
}

async function revokeAccess(companyId: string, transaction: Transaction): Promise<RevokedAccess> {
  const where = { companyId };
  const members = await Membership.findAll({ attributes: ["companyId", "userId"], where, transaction });
  const keys = await ApiKey.findAll({ attributes: ["companyId", "id"], where, transaction });
  const servers = await SmtpConfig.findAll({ attributes: ["companyId", "id"], where, transaction });
  await ApiKey.destroy({ where, transaction });
  await Membership.destroy({ where, transaction });
  await TrackingDomain.destroy({ where, transaction });
  await WebhookEndpoint.update({ disabledAt: new Date() }, { where: { companyId, disabledAt: null }, transaction });
  return {
    users: members.map(({ userId }) => userId),
    keys: keys.map(({ id }) => id),
    servers: servers.map(({ id }) => id),
  };
}

/** Deletes Redis keys of the company. Keys that cannot be deleted now expire within a day. */
async function deleteCounters(companyId: string, { keys, servers }: RevokedAccess): Promise<void> {
  const limiter = apiLimiter();
  const windows = [
    hourWindow(companyId, null, 3_600),
    apiCallsToday({ companyId }),
    ...keys.map((apiKeyId) => apiCallsToday({ companyId, apiKeyId })),
    ...servers.map((id) => secondWindow(id, 1)),
  ];
  await Promise.allSettled(windows.map((window) => limiter.forget(window)));
}

export async function deleteCompany(ctx: Ctx<{ id: string; password: string }>): Promise<{ detail: string }> {
  const companyId = ownCompany(ctx);
  if (!(await isOwnPassword(ctx, ctx.params.password))) throw forbidden("This password is wrong.");
  const revoked = await sequelize().transaction(async (transaction) => {
    await requireCurrentRights(ctx.meta, "accounts.deleteCompany", transaction);
    const now = sequelize().fn("now");
    await Company.update({ deletedAt: now, sendingPausedAt: now }, { where: { id: companyId }, transaction });
    await stopCampaigns(companyId, transaction);
    return revokeAccess(companyId, transaction);
  });
  ctx.broker.logger.info({ companyId, userId: ctx.meta.userId }, "Company deleted");
  for (const userId of revoked.users) await broadcast(ctx, "member.changed", { userId });
  for (const apiKeyId of revoked.keys) await broadcast(ctx, "apiKey.deleted", { apiKeyId });
  await broadcast(ctx, "trackingDomain.changed", { companyId });
  await deleteCounters(companyId, revoked);
  return { detail: "The company is deleted. Its data is removed in the background." };
}

/** Time limit of one run; the next run continues. */
const MAX_RUN_MS = 30_000;

/** Removes rows of deleted companies in round-robin order. Returns the number of rows. */
export async function removeCompanies(broker: ServiceBroker): Promise<number> {
  const until = Date.now() + MAX_RUN_MS;
  let companies = await deletedCompanies();
  let removed = 0;
  while (companies.length > 0) {
    const remaining: string[] = [];
    for (const companyId of companies) {
      if (broker.stopping || Date.now() > until) return removed;
      try {
        const { rows, over } = await removeStep(companyId);
        removed += rows;
        if (!over) remaining.push(companyId);
      } catch (error) {
        // The next run retries this company; the others continue.
        broker.logger.error({ error, companyId }, "Rows of a deleted company could not be removed");
      }
    }
    companies = remaining;
  }
  return removed;
}
