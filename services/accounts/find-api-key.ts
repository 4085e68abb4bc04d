/** Authenticates API keys. Uses SQL because it runs on every request with a key. */

import { query, queryOne } from "../../models/database/db.ts";
import type { Scope } from "../lib/rights.ts";

export interface FoundKey {
  id: string;
  company_id: string;
  expires_at: Date | null;
  last_used_at: Date | null;
  scopes: Scope[];
  allowed_ips: string[];
}

/** Finds a key by its hash across all companies. Undefined if the key is unknown or expired. */
export const findApiKey = (keyHash: Buffer): Promise<FoundKey | undefined> =>
  queryOne<FoundKey>(
    `select id, company_id, expires_at, last_used_at, scopes, allowed_ips from api_keys
     where key_hash = $1 and (expires_at is null or expires_at > now())`,
    [keyHash],
  );

/** Writes at most once per minute, even if several nodes see the key. */
export async function noteKeyUse({ id, company_id }: FoundKey): Promise<void> {
  await query(
    `update api_keys set last_used_at = now()
     where company_id = $1 and id = $2 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
    [company_id, id],
  );
}
