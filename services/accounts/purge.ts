/** Removes what time has made worthless. */
import { query } from "../../models/database/db.ts";

// A revoked token stays while any of its family could still be used: it is what tells that the family is dead.
const REFRESH_TOKENS = `
  delete from refresh_tokens t
  where expires_at < now()
    and (revoked_at is null
      or not exists (select from refresh_tokens f where f.family_id = t.family_id and f.expires_at >= now()))`;

const IDEMPOTENCY_KEYS = "delete from idempotency_keys where created_at < now() - interval '24 hours'";

export async function purge(): Promise<null> {
  await query(REFRESH_TOKENS);
  await query(IDEMPOTENCY_KEYS);
  return null;
}
