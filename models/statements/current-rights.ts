/**
 * Reads a caller's current rights in the transaction of the write that needs them. The row is share-locked: the read
 * waits for a concurrent demotion or removal, and a later one waits for this write.
 */
import { QueryTypes, type Transaction } from "sequelize";
import type { Caller } from "../../services/lib/caller.ts";
import { unauthenticated } from "../../services/lib/errors.ts";
import type { Rights } from "../../services/lib/rights.ts";
import { sequelize } from "../database/db.ts";

const OF_MEMBER = "select role from memberships where company_id = $1 and user_id = $2 for share";
const OF_KEY = `
  select scopes from api_keys
  where company_id = $1 and id = $2 and (expires_at is null or expires_at > now()) for share`;

/**
 * Returns the caller's current rights: none for a former member; throws for a deleted key. An operator has the given
 * role.
 */
export async function currentRights(meta: Caller, transaction: Transaction): Promise<Rights> {
  const { companyId, userId, apiKeyId, role } = meta;
  if (!userId && !apiKeyId) return { role };
  const [sql, id] = apiKeyId ? [OF_KEY, apiKeyId] : [OF_MEMBER, userId];
  const [found] = await sequelize().query<Rights>(sql, {
    bind: [companyId, id],
    type: QueryTypes.SELECT,
    transaction,
  });
  if (!found && apiKeyId) throw unauthenticated("Invalid API key.");
  return found ?? {};
}
