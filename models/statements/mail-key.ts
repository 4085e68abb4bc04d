/**
 * Manages the installation's key for ids and tokens in emails. Generated once, sealed by SECRET_KEY and never changed,
 * because sent emails depend on it.
 */
import { randomBytes } from "node:crypto";
import { seal, unseal } from "../../services/lib/secrets.ts";
import { AddressHashes } from "../../services/lib/tokens/address-hash.ts";
import { BounceTokens } from "../../services/lib/tokens/bounce-token.ts";
import { MailIds, type MailNumber } from "../../services/lib/tokens/mail-id.ts";
import { pool, queryOne } from "../database/db.ts";

const INSTALLATION = "00000000-0000-0000-0000-000000000001";
const KEY_BYTES = 32;

const READ = "select mail_key_sealed as sealed from installation";
// If two processes generate a key at the same time, the second gets the first one's.
const MAKE = `update installation set mail_key_sealed = coalesce(mail_key_sealed, $1) returning mail_key_sealed as sealed`;

interface MadeWithKey {
  ids: MailIds;
  bounceTokens: BounceTokens;
  addressHashes: AddressHashes;
}

async function readKey(): Promise<MadeWithKey> {
  let row = await queryOne<{ sealed: Buffer | null }>(READ);
  if (!row?.sealed) {
    row = await queryOne<{ sealed: Buffer }>(MAKE, [seal(randomBytes(KEY_BYTES).toString("base64"), INSTALLATION)]);
  }
  const key = Buffer.from(unseal(row!.sealed!, INSTALLATION), "base64");
  return { ids: new MailIds(key), bounceTokens: new BounceTokens(key), addressHashes: new AddressHashes(key) };
}

/** Caches the key per open database. */
const keys = new WeakMap<object, Promise<MadeWithKey>>();

function madeWithKey(): Promise<MadeWithKey> {
  const database = pool();
  let key = keys.get(database);
  if (!key) {
    key = readKey();
    keys.set(database, key);
    key.catch(() => keys.delete(database));
  }
  return key;
}

export const mailIds = async (): Promise<MailIds> => (await madeWithKey()).ids;
export const bounceTokens = async (): Promise<BounceTokens> => (await madeWithKey()).bounceTokens;
export const addressHashes = async (): Promise<AddressHashes> => (await madeWithKey()).addressHashes;

/** Sets each row's id and the part of its Message-ID before the "@", both computed from the row's numbers. */
export async function withIds<T extends MailNumber & { id: string; message_id?: string }>(rows: T[]): Promise<T[]> {
  const codec = await mailIds();
  const ids = codec.of(rows);
  const messageIds = codec.messageIds(ids);
  for (const [n, row] of rows.entries()) {
    row.id = ids[n]!;
    row.message_id = messageIds[n]!;
  }
  return rows;
}

/**
 * Returns the id of the email with this Message-ID, with or without angle brackets: the part before the "@" is the
 * encrypted id. Null if it is not ours. The email may no longer exist.
 */
export async function idOfMessage(messageId: string): Promise<string | null> {
  return (await mailIds()).readMessageId(messageId.replace(/^<|>$/g, "").split("@", 1)[0]!);
}

/** Returns the numbers of the emails with these ids, without foreign ids. The emails may no longer exist. */
export async function mailsOf(ids: readonly string[]): Promise<(MailNumber & { id: string })[]> {
  const all = [...new Set(ids.map((id) => id.toLowerCase()))];
  const read = (await mailIds()).readAll(all);
  return all.flatMap((id, n) => (read[n] ? [{ ...read[n], id }] : []));
}

const NOBODY: MailNumber = { campaign_no: -1, seq: 0 };

/** Returns the numbers of the email with this id; for any other id a number that no mail has. */
export const mailOf = async (id: string): Promise<MailNumber> => (await mailsOf([id]))[0] ?? NOBODY;
