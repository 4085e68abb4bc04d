/** What every request with an API key asks: SQL, because it is the hot one (24 µs of CPU each, by a model 70). */

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

/** By the key's hash, over all companies: the key says whose it is. Undefined where it is unknown or expired. */
export const findApiKey = (keyHash: Buffer): Promise<FoundKey | undefined> =>
  queryOne<FoundKey>(
    `select id, company_id, expires_at, last_used_at, scopes, allowed_ips from api_keys
     where key_hash = $1 and (expires_at is null or expires_at > now())`,
    [keyHash],
  );

/** At most once a minute, however many nodes see the key at the same time. */
export async function noteKeyUse({ id, company_id }: FoundKey): Promise<void> {
  await query(
    `update api_keys set last_used_at = now()
     where company_id = $1 and id = $2 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
    [company_id, id],
  );
}
