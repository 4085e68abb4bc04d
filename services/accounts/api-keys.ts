/** A company's API keys as its owners see them. */
import { ForeignKeyConstraintError } from "sequelize";
import { ApiKey } from "../../models/api-key.ts";
import { listModels } from "../../models/database/listing.ts";
import { broadcast } from "../call.ts";
import type { ParamsOf } from "../contracts.ts";
import type { Validate } from "../define.ts";
import type { Ctx } from "../lib/caller.ts";
import { type FieldErrors, notFound } from "../lib/errors.ts";
import type { ListQuery } from "../lib/shapes.ts";
import type { NewApiKey } from "./contract-account-shapes.ts";
import type { contract } from "./contract-company.ts";
import { newKey } from "./key-authentication.ts";
import { ownCompany, requireAdmin } from "./permission.ts";

export async function listKeys(ctx: Ctx<ListQuery & { id: string }>) {
  const { count, results } = await listModels(
    ApiKey,
    {
      from: "api_keys",
      columns: "id, name, prefix, expires_at, last_used_at, created_at",
      where: ["company_id = $1"],
      values: [ownCompany(ctx)],
      id: "id",
      orderings: { name: "name", expires_at: "expires_at", last_used_at: "last_used_at" },
      searchIn: ["name"],
    },
    ctx.params,
  );
  return { count, results: results.map((key) => key.view()) };
}

export const newKeyErrors: Validate<(typeof contract)["createKey"]> = (ctx, isValid): FieldErrors => {
  ownCompany(ctx);
  requireAdmin(ctx);
  const { expires_at } = ctx.params;
  if (!isValid("expires_at") || !expires_at || Date.parse(expires_at) > Date.now()) return {};
  return { expires_at: ["The time must be in the future."] };
};

/** The only answer that ever holds the key. */
export async function storeNewKey(companyId: string, name: string, expiresAt: Date | null): Promise<NewApiKey> {
  const { key, ...stored } = newKey();
  const row = await ApiKey.create({ companyId, name, expiresAt, ...stored }).catch((error) => {
    // An operator names the company; no membership was looked up before.
    throw error instanceof ForeignKeyConstraintError ? notFound() : error;
  });
  return { ...row.view(), key };
}

export function createKey(ctx: Ctx<ParamsOf<"accounts.createKey">>): Promise<NewApiKey> {
  const companyId = ownCompany(ctx);
  const { name, expires_at } = ctx.params;
  return storeNewKey(companyId, name.trim(), expires_at ? new Date(expires_at) : null);
}

export async function removeKey(ctx: Ctx<ParamsOf<"accounts.removeKey">>): Promise<null> {
  const companyId = ownCompany(ctx);
  requireAdmin(ctx);
  const apiKeyId = ctx.params.key_id.toLowerCase();
  if ((await ApiKey.destroy({ where: { companyId, id: apiKeyId } })) === 0) throw notFound();
  await broadcast(ctx, "apiKey.deleted", { apiKeyId });
  return null;
}
