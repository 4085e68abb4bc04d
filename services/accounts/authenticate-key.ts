/** From a key to its company: one lookup by the key's hash. Gateways remember the answer for a second at most. */
import { query, queryOne } from "../../models/database/db.ts";
import { unauthenticated } from "../lib/errors.ts";
import { hashKey, looksLikeKey } from "./api-key.ts";

const USE_NOTED_EVERY_MS = 60_000;

interface Found {
  id: string;
  company_id: string;
  expires_at: Date | null;
  last_used_at: Date | null;
}

const FIND = `
  select id, company_id, expires_at, last_used_at from api_keys
  where key_hash = $1 and (expires_at is null or expires_at > now())`;

const NOTE_USE = `
  update api_keys set last_used_at = now()
  where company_id = $1 and id = $2 and (last_used_at is null or last_used_at < now() - interval '1 minute')`;

const notes = new Set<Promise<unknown>>();

/** At most once a minute, beside the request and not before its answer; whether it works is no concern of the caller. */
function noteUse({ id, company_id, last_used_at }: Found): void {
  if (last_used_at && Date.now() - last_used_at.getTime() < USE_NOTED_EVERY_MS) return;
  const note = query(NOTE_USE, [company_id, id])
    .catch(() => {})
    .finally(() => notes.delete(note));
  notes.add(note);
}

/** Resolves when no use is being written any more: before the database closes. */
export const usesNoted = async (): Promise<void> => {
  await Promise.all(notes);
};

export async function authenticateKey(key: string) {
  const found = looksLikeKey(key) ? await queryOne<Found>(FIND, [hashKey(key)]) : undefined;
  if (!found) throw unauthenticated("Invalid API key.");
  noteUse(found);
  return { companyId: found.company_id, apiKeyId: found.id, expiresAt: found.expires_at?.toISOString() ?? null };
}
