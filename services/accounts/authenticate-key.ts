/**
 * From a key to its company. What was found is remembered for REMEMBER_MS, so that a busy client costs the database two
 * lookups a second and not thousands; a deleted key is forgotten by event, and without the event by then.
 */
import { query, queryOne } from "../../models/db.ts";
import { unauthenticated } from "../errors.ts";
import { hashKey, looksLikeKey } from "./api-key.ts";

const REMEMBER_MS = 500;
const MAX_REMEMBERED = 10_000;
const USE_NOTED_EVERY_MS = 60_000;

interface Found {
  id: string;
  company_id: string;
  expires_at: Date | null;
  last_used_at: Date | null;
}

interface Remembered extends Found {
  readAtMs: number;
}

const remembered = new Map<string, Remembered>();
const notes = new Set<Promise<unknown>>();

async function find(key: string): Promise<Remembered | undefined> {
  const hash = hashKey(key);
  const name = hash.toString("base64");
  const known = remembered.get(name);
  // Counted from before the reading: a key deleted meanwhile is not remembered any longer than another.
  const readAtMs = performance.now();
  if (known && readAtMs - known.readAtMs < REMEMBER_MS) return known;
  remembered.delete(name);
  const found = await queryOne<Found>(
    "select id, company_id, expires_at, last_used_at from api_keys where key_hash = $1",
    [hash],
  );
  if (!found) return undefined;
  const entry = { ...found, readAtMs };
  remembered.set(name, entry);
  if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!);
  return entry;
}

export function forgetKey(apiKeyId: string): void {
  for (const [name, { id }] of remembered) if (id === apiKeyId) remembered.delete(name);
}

/** At most once a minute, beside the request and not before its answer; whether it works is no concern of the caller. */
function noteUse(key: Remembered): void {
  const nowMs = Date.now();
  if (key.last_used_at && nowMs - key.last_used_at.getTime() < USE_NOTED_EVERY_MS) return;
  key.last_used_at = new Date(nowMs);
  const note = query(
    `update api_keys set last_used_at = now()
     where company_id = $1 and id = $2 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
    [key.company_id, key.id],
  )
    .catch(() => {})
    .finally(() => notes.delete(note));
  notes.add(note);
}

/** Resolves when no use is being written any more: before the database closes. */
export const usesNoted = async (): Promise<void> => {
  await Promise.all(notes);
};

export async function authenticateKey(key: string) {
  const found = looksLikeKey(key) ? await find(key) : undefined;
  if (!found || (found.expires_at && found.expires_at.getTime() <= Date.now())) {
    throw unauthenticated("Invalid API key.");
  }
  noteUse(found);
  return { companyId: found.company_id, apiKeyId: found.id, expiresAt: found.expires_at?.toISOString() ?? null };
}
