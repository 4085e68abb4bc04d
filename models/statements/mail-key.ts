/**
 * The installation's key: ids and tokens that live in mails are made with it. It is made once, sealed by SECRET_KEY and
 * never changed, because what was made with it is out in the world.
 */
import { randomBytes } from "node:crypto";
import { isUuid } from "../../services/lib/ids.ts";
import { seal, unseal } from "../../services/lib/secrets.ts";
import { AddressHashes } from "../../services/lib/tokens/address-hash.ts";
import { BounceTokens } from "../../services/lib/tokens/bounce-token.ts";
import { MailIds, type MailNumber } from "../../services/lib/tokens/mail-id.ts";
import { pool, queryOne } from "../database/db.ts";

const INSTALLATION = "00000000-0000-0000-0000-000000000001";
const KEY_BYTES = 32;

const READ = "select mail_key_sealed as sealed from installation";
// Of two that make one at the same time the second finds the first one's.
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

/** By the database that is open. */
const known = new WeakMap<object, Promise<MadeWithKey>>();

function madeWithKey(): Promise<MadeWithKey> {
  const database = pool();
  let made = known.get(database);
  if (!made) {
    made = readKey();
    known.set(database, made);
    made.catch(() => known.delete(database));
  }
  return made;
}

export const mailIds = async (): Promise<MailIds> => (await madeWithKey()).ids;
export const bounceTokens = async (): Promise<BounceTokens> => (await madeWithKey()).bounceTokens;
export const addressHashes = async (): Promise<AddressHashes> => (await madeWithKey()).addressHashes;

/** Gives each of these rows its id, where it is not stored, and what stands before the "@" of its Message-ID. */
export async function withIds<T extends MailNumber & { id: string; message_id?: string }>(rows: T[]): Promise<T[]> {
  const computed = rows.filter(({ id }) => (id as string | null) === null);
  if (computed.length > 0) {
    const ids = (await mailIds()).of(computed);
    for (const [n, row] of computed.entries()) row.id = ids[n]!;
  }
  const messageIds = await messageIdsOf(rows);
  for (const [n, row] of rows.entries()) row.message_id = messageIds[n]!;
  return rows;
}

/**
 * The id of the mail that has this Message-ID, with or without angle brackets: before the "@" stands the id, enciphered or (of
 * mails whose id is stored) as it is. Null for one that is not ours. Whether the mail is there is for the caller to see.
 */
export async function idOfMessage(messageId: string): Promise<string | null> {
  const opaque = messageId.replace(/^<|>$/g, "").split("@", 1)[0]!;
  return isUuid(opaque) ? opaque : (await mailIds()).readMessageId(opaque);
}

const FIND_STORED = "select campaign_no, seq, id from sent_emails where id = any ($1::uuid[]) and campaign_no < 0";

/** Which mails these ids stand for; those that stand for none are missing. Whether it is there is for the caller to see. */
export async function mailsOf(ids: readonly string[]): Promise<(MailNumber & { id: string })[]> {
  const codec = await mailIds();
  const stored: string[] = [];
  const mails: (MailNumber & { id: string })[] = [];
  const all = [...new Set(ids.map((id) => id.toLowerCase()))];
  const read = codec.readAll(all);
  for (const [n, id] of all.entries()) {
    const mail = read[n];
    if (mail) mails.push({ ...mail, id });
    else stored.push(id);
  }
  if (stored.length > 0) mails.push(...(await findStored(stored)));
  return mails;
}

async function findStored(ids: string[]): Promise<(MailNumber & { id: string })[]> {
  return (await pool().query<MailNumber & { id: string }>(FIND_STORED, [ids])).rows;
}

const NOBODY: MailNumber = { campaign_no: -1, seq: 0 };

/** The one mail that this id stands for; for an id that stands for none a number that no mail has. */
export const mailOf = async (id: string): Promise<MailNumber> => (await mailsOf([id]))[0] ?? NOBODY;

/** What stands before the "@" of a mail's Message-ID. Rows whose id is stored have had it there since they were sent. */
async function messageIdsOf(mails: readonly (MailNumber & { id: string })[]): Promise<string[]> {
  const opaque = (await mailIds()).messageIds(mails.map(({ id }) => id));
  return mails.map(({ campaign_no, id }, n) => (campaign_no < 0 ? id : opaque[n]!));
}
