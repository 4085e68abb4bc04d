/**
 * Idempotency-Key: one key, one campaign, for 24 hours. The key is claimed in the transaction that creates the campaign:
 * a second request with the same key waits at the unique index until the first has committed, and then reads its
 * answer. If the first request rolls back, the second continues as if it were the first.
 *
 * | request with a known key of the company                                  | answer                                  |
 * |--------------------------------------------------------------------------|-----------------------------------------|
 * | same kind of send and body, in any order of its fields (`requestHash`)   | the first answer; no further campaign   |
 * | anything else                                                            | 409                                     |
 * | older than 24 hours                                                      | as for a new key                        |
 *
 * For a draft the key is bound to the draft's id, for a resend to the campaign and the changed fields. Without a key every
 * request is a new send, except that a draft is sent once. `deleteOldKeys` removes keys, and so does the erasure of a
 * person they name.
 */
import { createHash } from "node:crypto";
import { type Queryable, query, queryOne } from "../../../models/database/db.ts";
import { canonicalJson } from "../../lib/canonical-json.ts";
import { conflict } from "../../lib/errors.ts";

const KEPT = "24 hours";

interface Earlier {
  request_hash: Buffer;
  /** Response with its fields in order. */
  response: object | null;
}

/** SHA-256 of the kind of send and its body. */
export const requestHash = (type: string, body: object): Buffer =>
  createHash("sha256")
    .update(`${type}\n${canonicalJson(body)}`)
    .digest();

export const earlierSend = (companyId: string, key: string, client?: Queryable): Promise<Earlier | undefined> =>
  queryOne<Earlier>(
    `select request_hash, response from idempotency_keys
     where company_id = $1 and key = $2 and created_at > now() - $3::interval`,
    [companyId, key, KEPT],
    client,
  );

/**
 * Returns the first response to this key, or undefined if the key is new. Throws 409 if it was used with another body.
 */
export async function answerOf<T>(
  companyId: string,
  key: string,
  hash: Buffer,
  client?: Queryable,
): Promise<T | undefined> {
  const earlier = await earlierSend(companyId, key, client);
  if (!earlier) return undefined;
  if (!earlier.request_hash.equals(hash)) {
    throw conflict("This Idempotency-Key was used with another request body within the last 24 hours.");
  }
  const { response } = earlier;
  return response === null ? undefined : (response as T);
}

/** True if the request may continue. Waits for a concurrent request with the same key. */
export async function claimKey(client: Queryable, companyId: string, key: string, hash: Buffer): Promise<boolean> {
  const claimed = await query(
    `insert into idempotency_keys as k (company_id, key, request_hash) values ($1, $2, $3)
     on conflict (company_id, key) do update set request_hash = excluded.request_hash, response = null, created_at = now()
       where k.created_at <= now() - $4::interval
     returning key`,
    [companyId, key, hash, KEPT],
    client,
  );
  return claimed.length === 1;
}

export async function storeAnswer(client: Queryable, companyId: string, key: string, answer: object): Promise<void> {
  await query(
    "update idempotency_keys set response = $3 where company_id = $1 and key = $2",
    [companyId, key, JSON.stringify(answer)],
    client,
  );
}

/** Deletes expired keys of all companies. */
export async function deleteOldKeys(): Promise<number> {
  const deleted = await query(
    `delete from idempotency_keys where (company_id, key) in (
       select company_id, key from idempotency_keys where created_at <= now() - $1::interval limit 10000)
     returning key`,
    [KEPT],
  );
  return deleted.length;
}
