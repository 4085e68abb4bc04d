/**
 * Idempotency-Key: one key, one campaign, for 24 hours. The key is claimed in the transaction of the campaign it
 * answers for: a second request with it waits at the unique index until the first has committed, and then reads its
 * answer. A first that rolls back leaves no trace, and the second goes on as if it were the first.
 */
import { createHash } from "node:crypto";
import { type Queryable, query, queryOne } from "../../../models/database/db.ts";
import { conflict } from "../../lib/errors.ts";

const KEPT = "24 hours";

interface Earlier {
  request_hash: Buffer;
  /** The answer's text: as jsonb its fields would come back in another order. */
  response: string | null;
}

/** JSON with the keys of every object in order: the same body, however it was written down, has the same text. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** What the key stands for: the kind of send and its body. */
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

/** The first answer to this key, or undefined where it is new; throws where it was used with another body. */
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
  return earlier.response === null ? undefined : (JSON.parse(earlier.response) as T);
}

/** True for the one that may go on. Waits for a concurrent request with the same key to end. */
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

export async function keepAnswer(client: Queryable, companyId: string, key: string, answer: object): Promise<void> {
  await query(
    "update idempotency_keys set response = $3 where company_id = $1 and key = $2",
    [companyId, key, JSON.stringify(JSON.stringify(answer))],
    client,
  );
}

/** Old keys are dead weight, for every company alike. */
export async function forgetOldKeys(): Promise<number> {
  const forgotten = await query(
    `delete from idempotency_keys where (company_id, key) in (
       select company_id, key from idempotency_keys where created_at <= now() - $1::interval limit 10000)
     returning key`,
    [KEPT],
  );
  return forgotten.length;
}
