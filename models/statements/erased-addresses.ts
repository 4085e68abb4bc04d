/**
 * Keeps erased people from being added again by the company: checked wherever an address enters, before it is stored.
 * Only the person can lift it, by a confirmation from that mailbox.
 */
import { type Queryable, query } from "../database/db.ts";
import { addressHashes } from "./mail-key.ts";

export const ERASED_ERROR = "This person was erased on request and can only return by subscribing again.";
/**
 * Refuses a suppression of an erased address: the stored hash already acts as one, and a suppression row would store
 * the address in plain text again.
 */
export const ERASED_IS_SUPPRESSED =
  "This person was erased on request: the address already gets no mail and is not stored again.";

// Skips companies without erased people (most of them): they cost one probe and no hash.
const ANY = "select exists (select from erased_addresses where company_id = $1) as found";
const AMONG = "select address_hash from erased_addresses where company_id = $1 and address_hash = any ($2::bytea[])";

/** Returns the given addresses that belong to erased people. */
export async function erasedAmong(
  companyId: string,
  addresses: readonly string[],
  client?: Queryable,
): Promise<ReadonlySet<string>> {
  const none = new Set<string>();
  if (addresses.length === 0) return none;
  const [any] = await query<{ found: boolean }>(ANY, [companyId], client);
  if (!any!.found) return none;
  const hashes = await addressHashes();
  const byHash = addresses.map((address) => [hashes.of(companyId, address), address] as const);
  const rows = await query<{ address_hash: Buffer }>(AMONG, [companyId, byHash.map(([hash]) => hash)], client);
  const found = new Set(rows.map(({ address_hash }) => address_hash.toString("hex")));
  return new Set(byHash.filter(([hash]) => found.has(hash.toString("hex"))).map(([, address]) => address));
}

const ALL = "select address_hash from erased_addresses where company_id = $1";
/** Bytes of a hash that are compared; a million take about 80 MB. */
const COMPARED_BYTES = 9;

/** Returns a test for many addresses; reads all hashes of the company once. */
export async function erasedTest(companyId: string, client: Queryable): Promise<(address: string) => boolean> {
  const rows = await query<{ address_hash: Buffer }>(ALL, [companyId], client);
  if (rows.length === 0) return () => false;
  const hashes = await addressHashes();
  const shortened = (hash: Buffer) => hash.toString("base64", 0, COMPARED_BYTES);
  const erasedHashes = new Set(rows.map(({ address_hash }) => shortened(address_hash)));
  return (address) => erasedHashes.has(shortened(hashes.of(companyId, address)));
}

export const isErased = async (companyId: string, address: string, client?: Queryable): Promise<boolean> =>
  (await erasedAmong(companyId, [address], client)).size > 0;

/** Lifts the erasure after the person confirmed from that mailbox; with the row, unfinished work is dropped. */
export async function liftErasure(client: Queryable, companyId: string, address: string): Promise<void> {
  const hash = (await addressHashes()).of(companyId, address);
  await query("delete from erased_addresses where company_id = $1 and address_hash = $2", [companyId, hash], client);
}
