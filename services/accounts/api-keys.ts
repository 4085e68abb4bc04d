/** Lists, creates and deletes a company's API keys. */
import { ForeignKeyConstraintError, type Transaction } from "sequelize";
import { ApiKey } from "../../models/api-key.ts";
import { Company } from "../../models/company.ts";
import { sequelize } from "../../models/database/db.ts";
import { listPage } from "../../models/database/listing.ts";
import { audit } from "../../models/statements/audit-log.ts";
import { noticeToOwners } from "../../models/statements/queue-system-mail.ts";
import { User } from "../../models/user.ts";
import { broadcast } from "../call.ts";
import type { ParamsOf } from "../contracts.ts";
import type { Validate } from "../define.ts";
import { type Caller, type Ctx, knownRights } from "../lib/caller.ts";
import { badRequest, type FieldErrors, notFound } from "../lib/errors.ts";
import { parseNetwork } from "../lib/ip-networks.ts";
import type { Scope } from "../lib/rights.ts";
import type { ListQuery } from "../lib/shapes.ts";
import { requirePermission } from "../permissions.ts";
import type { NewApiKey, ApiKey as View } from "./contract-account-shapes.ts";
import type { contract } from "./contract-company.ts";
import { newKey } from "./key-authentication.ts";
import { lockCompany, ownCompany, requireCurrentRights } from "./permission.ts";

/**
 * Maximum keys per company. Daily API calls are limited per key, so an unlimited number of keys would bypass the limit.
 */
const MAX_KEYS = 20;

interface Row extends Omit<View, "expires_at" | "last_used_at" | "created_at"> {
  expires_at: Date | null;
  last_used_at: Date | null;
  created_at: Date;
}

export async function listKeys(ctx: Ctx<ListQuery & { id: string }>) {
  const { results, ...page } = await listPage<Row>(
    {
      from: "api_keys k left join users u on u.id = k.created_by",
      columns: `k.id, k.name, k.prefix, k.scopes, k.allowed_ips, k.expires_at, k.last_used_at, k.created_at,
        case when u.id is not null then json_build_object('id', u.id, 'name', u.email) end as created_by`,
      where: ["k.company_id = $1"],
      values: [ownCompany(ctx)],
      id: "k.id",
      orderings: {
        name: "k.name",
        expires_at: "coalesce(k.expires_at, 'infinity')",
        last_used_at: "coalesce(k.last_used_at, 'infinity')",
      },
      searchIn: ["k.name"],
    },
    ctx.params,
  );
  const view = (row: Row): View => ({
    ...row,
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  });
  return { ...page, results: results.map(view) };
}

export const newKeyErrors: Validate<(typeof contract)["createKey"]> = (ctx, isValid): FieldErrors => {
  ownCompany(ctx);
  requirePermission("accounts.createKey", knownRights(ctx.meta));
  const { expires_at, allowed_ips } = ctx.params;
  const errors: FieldErrors = {};
  if (isValid("expires_at") && expires_at && Date.parse(expires_at) <= Date.now()) {
    errors.expires_at = ["The time must be in the future."];
  }
  if (isValid("allowed_ips")) {
    const invalid = allowed_ips!.filter((text) => !parseNetwork(text.trim()));
    if (invalid.length > 0) {
      errors.allowed_ips = invalid.map((text) => `"${text}" is neither an address nor a network such as 192.0.2.0/24.`);
    }
  }
  return errors;
};

interface KeySettings {
  name: string;
  expiresAt?: Date | null;
  scopes?: Scope[];
  allowedIps?: string[];
  createdBy?: User | null;
}

/** Creates a key. Only this answer contains the key itself. */
export async function storeNewKey(
  companyId: string,
  { name, expiresAt = null, scopes = ["full"], allowedIps = [], createdBy = null }: KeySettings,
  transaction: Transaction,
): Promise<NewApiKey> {
  // Lock first: concurrent requests would not count each other's rows.
  await lockCompany(companyId, transaction);
  if ((await ApiKey.count({ where: { companyId }, transaction })) >= MAX_KEYS) {
    throw badRequest(`A company holds at most ${MAX_KEYS} API keys. Delete one first.`);
  }
  const { key, ...stored } = newKey();
  const values = { companyId, name, expiresAt, scopes, allowedIps, createdBy: createdBy?.id ?? null, ...stored };
  const row = await ApiKey.create(values, { transaction }).catch((error) => {
    // Operators pass the company id, and no membership was checked.
    throw error instanceof ForeignKeyConstraintError ? notFound() : error;
  });
  return {
    id: row.id,
    name,
    prefix: stored.prefix,
    scopes,
    allowed_ips: allowedIps,
    created_by: createdBy && { id: createdBy.id, name: createdBy.email },
    expires_at: expiresAt?.toISOString() ?? null,
    last_used_at: null,
    created_at: row.createdAt.toISOString(),
    key,
  };
}

export function createKey(ctx: Ctx<ParamsOf<"accounts.createKey">>): Promise<NewApiKey> {
  const companyId = ownCompany(ctx);
  const { name, expires_at, scopes, allowed_ips } = ctx.params;
  return sequelize().transaction(async (transaction) => {
    await requireCurrentRights(ctx.meta, "accounts.createKey", transaction);
    const settings: KeySettings = {
      name: name.trim(),
      expiresAt: expires_at ? new Date(expires_at) : null,
      ...(scopes ? { scopes: [...new Set(scopes)] } : {}),
      ...(allowed_ips ? { allowedIps: allowed_ips.map((text) => text.trim()) } : {}),
      createdBy: ctx.meta.userId ? await User.findByPk(ctx.meta.userId, { transaction }) : null,
    };
    const key = await storeNewKey(companyId, settings, transaction);
    const detail = { name: key.name, scopes: key.scopes, allowed_ips: key.allowed_ips };
    await audit(companyId, ctx.meta, { action: "api_key.created", target: key.id, detail }, transaction);
    const creator = settings.createdBy?.email ?? "The operator";
    const company = (await Company.findByPk(companyId, { transaction }))!.name;
    await noticeToOwners(companyId, "key_created", { company, key: key.name, by: creator }, transaction);
    return key;
  });
}

export async function removeKey(ctx: Ctx<ParamsOf<"accounts.removeKey">>): Promise<null> {
  const companyId = ownCompany(ctx);
  const apiKeyId = ctx.params.key_id.toLowerCase();
  await sequelize().transaction(async (transaction) => {
    await requireCurrentRights(ctx.meta, "accounts.removeKey", transaction);
    if ((await ApiKey.destroy({ where: { companyId, id: apiKeyId }, transaction })) === 0) throw notFound();
    await audit(companyId, ctx.meta, { action: "api_key.deleted", target: apiKeyId }, transaction);
  });
  await broadcast(ctx, "apiKey.deleted", { apiKeyId });
  return null;
}

/** Deletes the keys of a leaving member. Returns their ids. */
export async function removeKeysOf(
  meta: Caller,
  companyId: string,
  userId: string,
  transaction: Transaction,
): Promise<string[]> {
  const where = { companyId, createdBy: userId };
  const keys = await ApiKey.findAll({ attributes: ["id"], where, transaction });
  await ApiKey.destroy({ where, transaction });
  for (const { id } of keys) await audit(companyId, meta, { action: "api_key.deleted", target: id }, transaction);
  return keys.map(({ id }) => id);
}
