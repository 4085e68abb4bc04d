/**
 * Erases a person from a company, target by target (erasure-targets.ts), in steps of one transaction each: the changes,
 * the counts and the next cursor are written together. So a crash loses nothing, concurrent workers on the same person
 * wait for each other's step, and nothing is counted twice.
 *
 * Running requests and deliveries may still write the address after their target was processed: a second pass runs when
 * none of them can be left. It skips a person who has asked for mail again by then.
 */

import { addressVariants, domainOf } from "../../services/lib/address.ts";
import { newId } from "../../services/lib/ids.ts";
import { seal, unseal } from "../../services/lib/secrets.ts";
import { type Client, query, queryOne, transaction } from "../database/db.ts";
import { DELETE_HITS_OF_MAILS } from "./erase-hits.ts";
import { ERASED_KINDS, type ErasedKind } from "./erase-steps.ts";
import { ERASURE_TARGETS } from "./erasure-targets.ts";
import { addressHashes } from "./mail-key.ts";

/** Wait before the second pass: longer than an import, a lease and a server's answer together. */
const SECOND_PASS_MINUTES = 30;
/** Time after which another process continues the work of a request that died. */
const OWN_SECONDS = 30;

export type ErasedCounts = Record<ErasedKind, number>;

interface Job {
  id: string;
  company_id: string;
  address_hash: Buffer;
  address_sealed: Buffer | null;
  place: number;
  cursor: string | null;
  pass: number;
  counts: Partial<ErasedCounts>;
}

export interface ErasedPerson {
  companyId: string;
  hash: Buffer;
}

// A repeated request restarts a running erasure.
const BEGIN = `
  insert into erased_addresses as e (id, company_id, address_hash, address_sealed, due_at)
  values ($1, $2, $3, $4, now() + interval '${OWN_SECONDS} seconds')
  on conflict (company_id, address_hash) do update set id = excluded.id, address_sealed = excluded.address_sealed,
    place = 0, cursor = null, pass = 1, counts = '{}', due_at = excluded.due_at`;

/** Call before the transaction: the first call reads the hash key on another connection. */
export const erasedPerson = async (companyId: string, address: string): Promise<ErasedPerson> => ({
  companyId,
  hash: (await addressHashes()).of(companyId, address),
});

/** Suppresses the address from now on; `eraseStep` deletes existing data. */
export async function beginErasure(client: Client, { companyId, hash }: ErasedPerson, address: string): Promise<void> {
  const id = newId();
  await query(BEGIN, [id, companyId, hash, seal(address.trim(), id)], client);
}

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** Parameters $2, $4 and $5 of a target. */
function spellingsOf(address: string): { keys: string[]; pattern: string; hint: string } {
  const keys = [...new Set(addressVariants(address).map((variant) => variant.toLowerCase()))];
  const local = keys[0]!.slice(0, keys[0]!.lastIndexOf("@"));
  const domains = [...new Set(keys.map(domainOf))].map(escaped).join("|");
  // The @ may be encoded in links. Does not match a part of a longer address.
  const hint = /^[!-~]+$/.test(local) ? local : "";
  return { keys, hint, pattern: `(?<![\\w.+-])${escaped(local)}(?:@|%40)(?:${domains})(?![\\w-]|\\.\\w)` };
}

const LOCK = `select id, company_id, address_hash, address_sealed, place, cursor, pass, counts from erased_addresses
  where company_id = $1 and address_hash = $2 for update`;

const RETURNED_PERSON =
  "select from subscribers where company_id = $1 and email_key = any ($2::text[]) and status = 'unconfirmed'";

const MOVE = `
  update erased_addresses set place = $3, cursor = $4, counts = $5, due_at = now() + interval '${OWN_SECONDS} seconds'
  where company_id = $1 and address_hash = $2`;
const NEXT_PASS = `
  update erased_addresses set place = 0, cursor = null, counts = $3, pass = 2,
    due_at = now() + interval '${SECOND_PASS_MINUTES} minutes' where company_id = $1 and address_hash = $2`;
const DONE = `
  update erased_addresses set address_sealed = null, cursor = null, counts = '{}', due_at = null
  where company_id = $1 and address_hash = $2`;

interface Visited {
  n: number;
  next: string | null;
  /** Numbers (campaign, recipient) of each emptied email. */
  mails?: [number, number][] | null;
  /** Hits deleted with these emails. */
  hits: number;
}

async function visit(client: Client, job: Job, address: string): Promise<Visited> {
  const target = ERASURE_TARGETS[job.place]!;
  const { keys, pattern, hint } = spellingsOf(address);
  if (target.before) await query(target.before, [job.company_id], client);
  const values = [job.company_id, keys, job.cursor ?? target.first ?? "", pattern, hint];
  const visited = (await queryOne<Omit<Visited, "hits">>(target.sql, values, client))!;
  if (!visited.mails?.length) return { ...visited, hits: 0 };
  const mails = JSON.stringify(visited.mails.map(([campaign_no, seq]) => ({ campaign_no, seq })));
  return { ...visited, hits: (await client.query(DELETE_HITS_OF_MAILS, [job.company_id, mails])).rowCount ?? 0 };
}

const isNextPass = ({ pass, place, cursor }: Job): boolean => pass === 2 && place === 0 && cursor === null;

/** Runs one step. `over`: this pass has ended. */
export function eraseStep({ companyId, hash }: ErasedPerson): Promise<{ over: boolean; counts: ErasedCounts }> {
  return transaction(async (client) => {
    const job = await queryOne<Job>(LOCK, [companyId, hash], client);
    const none = Object.fromEntries(ERASED_KINDS.map((kind) => [kind, 0])) as ErasedCounts;
    const counts: ErasedCounts = { ...none, ...job?.counts };
    if (!job?.address_sealed || (isNextPass(job) && !(await isDue(client, job)))) {
      return { over: true, counts };
    }
    const address = unseal(job.address_sealed, job.id);
    if (job.pass === 2 && (await queryOne(RETURNED_PERSON, [companyId, spellingsOf(address).keys], client))) {
      await query(DONE, [companyId, hash], client);
      return { over: true, counts };
    }
    const { n, next, hits } = await visit(client, job, address);
    counts[ERASURE_TARGETS[job.place]!.counted] += n;
    counts.events += hits;
    const nextPlace = next === null ? job.place + 1 : job.place;
    if (nextPlace < ERASURE_TARGETS.length) {
      await query(MOVE, [companyId, hash, nextPlace, next, JSON.stringify(counts)], client);
      return { over: false, counts };
    }
    await (job.pass === 1
      ? query(NEXT_PASS, [companyId, hash, JSON.stringify(counts)], client)
      : query(DONE, [companyId, hash], client));
    return { over: true, counts };
  });
}

/** Guards against a process that still works on a pass finished by another: it must not start the next one. */
const isDue = async (client: Client, { company_id, address_hash }: Job): Promise<boolean> =>
  (await queryOne(
    "select from erased_addresses where company_id = $1 and address_hash = $2 and due_at <= now()",
    [company_id, address_hash],
    client,
  )) !== undefined;

const DUE = "select company_id, address_hash from erased_addresses where due_at <= now() order by due_at limit $1";

export async function dueErasures(limit: number): Promise<ErasedPerson[]> {
  const rows = await query<Pick<Job, "company_id" | "address_hash">>(DUE, [limit]);
  return rows.map(({ company_id, address_hash }) => ({ companyId: company_id, hash: address_hash }));
}

/** Delays a failed step: it would fail again at once and hold up others. */
export async function postponeErasure({ companyId, hash }: ErasedPerson): Promise<void> {
  await query(
    `update erased_addresses set due_at = now() + interval '10 minutes'
     where company_id = $1 and address_hash = $2 and due_at is not null`,
    [companyId, hash],
  );
}
