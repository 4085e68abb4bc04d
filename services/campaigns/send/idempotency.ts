/**
 * Idempotency-Key: one key, one campaign, for 24 hours. The key is claimed in the transaction that creates the campaign:
 * a second request with the same key waits at the unique index until the first has committed, and then reads its answer.
 * A first request that rolls back leaves no trace, and the second continues as if it were the first.
 *
 * | request with a key of the company that is known           | answer                                             |
 * |-----------------------------------------------------------|----------------------------------------------------|
 * | equal: kind of send and body, the order of its fields aside (`requestHash`) | the first one's, and no further campaign |
 * | other                                                     | 409                                                |
 * | older than 24 hours                                       | that of a new one                                  |
 *
 * Of a draft's send the key stands for the draft, of a resend for the campaign and what is changed. Requests without a key are each a
 * send of their own, but for drafts: one is sent once. Keys go by `deleteOldKeys`, and with an erased person whom they name.
 */
import { createHash } from "node:crypto";
import { type Queryable, query, queryOne } from "../../../models/database/db.ts";
import { conflict } from "../../lib/errors.ts";

const KEPT = "24 hours";

interface Earlier {
  request_hash: Buffer;
  /** The answer, its fields in their order. */
  response: object | null;
}

/** JSON with the keys of every object sorted: equal bodies have the same text. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** SHA-256 of what a key stands for: the kind of send and its body. */
export const requestHash = (type: string, body: object): Buffer =>
  createHash("sha256")
    .update(`${type}\n${canonical(body)}`)
    .digest();

export const earlierSend = (companyId: string, key: string, on?: Queryable): Promise<Earlier | undefined> =>
  queryOne<Earlier>(
    `select request_hash, response from idempotency_keys
     where company_id = $1 and key = $2 and created_at > now() - $3::interval`,
    [companyId, key, KEPT],
    on,
  );

/** The first answer to this key, or undefined if the key is new. Throws 409 if it was used with another body. */
export async function answerOf<T>(
  companyId: string,
  key: string,
  hash: Buffer,
  on?: Queryable,
): Promise<T | undefined> {
  const earlier = await earlierSend(companyId, key, on);
  if (!earlier) return undefined;
  if (!earlier.request_hash.equals(hash)) {
    throw conflict("This Idempotency-Key was used with another request body within the last 24 hours.");
  }
  const { response } = earlier;
  return response === null ? undefined : (response as T);
}

/** True for the request that may go on. Waits until a concurrent request with the same key has ended. */
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
