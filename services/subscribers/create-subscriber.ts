/**
 * Creates single subscribers. What concurrent requests of a company bring becomes one transaction: a commit waits for the disk
 * however many rows it has, and a company that brings many holds one connection with them, not half of all.
 */

import { type Client, INTERACTIVE, pool, type Queryable, queryOne, transaction } from "../../models/database/db.ts";
import { ERASED_ERROR, erasedAmong } from "../../models/statements/erased-addresses.ts";
import { type Limit, roomFor } from "../../models/statements/subscriber-locks.ts";
import { addressText } from "../lib/address.ts";
import { type Attributes, attributesError } from "../lib/attributes.ts";
import { invalid, subscriberLimitReached } from "../lib/errors.ts";
import { type GroupCommit, groupCommit } from "../lib/group-commit.ts";
import { newId } from "../lib/ids.ts";
import { asOwner } from "../lib/owner.ts";
import { withTimeout } from "../lib/timeouts.ts";
import { addToLists } from "./members.ts";
import { COLUMNS, type SubscriberRow, type SubscriberView, subscriberView, subscriberWithin } from "./subscriber.ts";

export interface GivenSubscriber {
  email: string;
  first_name?: string;
  last_name?: string;
  attributes?: Attributes;
  lists?: string[];
}

const AT_ONCE = 100;
const MAX_WAITING = 10_000;
/** Another writer, an import say, has the row of one of them: the others do not wait for it with that one. */
const ROW_WAIT_MS = 200;

// In the order of their keys: two nodes that save the same people would wait for each other otherwise. An address that exists
// already is not an error: its row is returned with the given values filled in.
const UPSERT = `
  with given as (
    select g.*, address_key(g.email) as key
    from unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::jsonb[])
      with ordinality g (id, email, first_name, last_name, attributes, no)),
  saved as (
    insert into subscribers as s (id, company_id, email, first_name, last_name, attributes)
    select id, $1, email, first_name, last_name, attributes from given order by key
    on conflict (company_id, email_key) do update set
      first_name = coalesce(nullif(excluded.first_name, ''), s.first_name),
      last_name = coalesce(nullif(excluded.last_name, ''), s.last_name),
      attributes = s.attributes || excluded.attributes,
      updated_at = now()
    returning ${COLUMNS}, s.email_key)
  select saved.* from given join saved on saved.email_key = given.key order by given.no`;

async function upsert(on: Queryable, companyId: string, given: readonly GivenSubscriber[]): Promise<SubscriberView[]> {
  const values = [
    companyId,
    given.map(() => newId()),
    given.map(({ email }) => addressText(email)),
    given.map(({ first_name = "" }) => first_name.trim()),
    given.map(({ last_name = "" }) => last_name.trim()),
    given.map(({ attributes = {} }) => JSON.stringify(attributes)),
  ];
  const { rows } = await on.query({ name: "subscriber-upsert", text: UPSERT, values });
  return (rows as SubscriberRow[]).map(subscriberView);
}

export function requireWithinLimits({ attributes }: { attributes: Attributes }): void {
  const error = attributesError(attributes);
  if (error) throw invalid({ attributes: [error] });
}

export async function withLists(client: Client, companyId: string, saved: SubscriberView, lists: string[] = []) {
  if (lists.length === 0) return saved;
  await addToLists(client, companyId, [saved.id], lists);
  return subscriberWithin(client, companyId, saved.id);
}

const KNOWN = "select from subscribers where company_id = $1 and email_key = address_key($2)";

async function saveAlone(companyId: string, { limit, ...given }: Wanted): Promise<SubscriberView> {
  if (limit === null && !given.attributes && !given.lists?.length)
    return (await upsert(pool(), companyId, [given]))[0]!;
  return transaction(async (client) => {
    const room = await roomFor(client, companyId, limit);
    if (room === 0 && !(await queryOne(KNOWN, [companyId, addressText(given.email)], client))) {
      throw subscriberLimitReached(limit!);
    }
    const saved = (await upsert(client, companyId, [given]))[0]!;
    requireWithinLimits(saved);
    return withLists(client, companyId, saved, given.lists);
  }, INTERACTIVE);
}

/** A subscriber to be saved, and how many the company's plan allows. */
interface Wanted extends GivenSubscriber {
  limit: Limit;
}
/** What becomes of one, which may be known later than that of the others. */
type Saved = () => Promise<SubscriberView>;

/** Those that have to wait longer, for a row that somebody else holds say, do not keep the next ones. */
async function eachAlone(companyId: string, wanted: readonly Wanted[]): Promise<Saved[]> {
  const views = wanted.map((one) => saveAlone(companyId, one));
  await withTimeout(Promise.allSettled(views), ROW_WAIT_MS, () => new Error("Not yet")).catch(() => {});
  return views.map((view) => () => view);
}

/** Undefined where they have to be saved one by one: an address twice, a row that somebody else holds, a value that is refused. */
async function saveTogether(companyId: string, wanted: readonly Wanted[]): Promise<Saved[] | undefined> {
  try {
    return await transaction(
      async (client) => {
        const room = await roomFor(client, companyId, wanted.at(-1)!.limit);
        if (room < wanted.length) return undefined;
        const views = await upsert(client, companyId, wanted);
        for (const view of views) requireWithinLimits(view);
        return views.map((view) => async () => view);
      },
      { settings: { lock_timeout: ROW_WAIT_MS } },
    );
  } catch {
    return undefined;
  }
}

async function saveAll(companyId: string, wanted: readonly Wanted[]): Promise<Saved[]> {
  const together = wanted.length > 1 ? await saveTogether(companyId, wanted) : undefined;
  return together ?? eachAlone(companyId, wanted);
}

const refused: Saved = async () => {
  throw invalid({ email: [ERASED_ERROR] });
};

async function saveAllowed(companyId: string, wanted: readonly Wanted[]): Promise<Saved[]> {
  const emails = wanted.map(({ email }) => email);
  const erased = await erasedAmong(companyId, emails);
  const isErased = ({ email }: Wanted) => erased.has(email);
  const saved = await saveAll(
    companyId,
    wanted.filter((one) => !isErased(one)),
  );
  return wanted.map((one) => (isErased(one) ? refused : saved.shift()!));
}

interface Group {
  commit: GroupCommit<Wanted, Saved>;
  waiting: number;
}

export class SubscriberWriter {
  readonly #groups = new Map<string, Group>();

  #groupOf(companyId: string): Group {
    const known = this.#groups.get(companyId);
    if (known) return known;
    // It serves many requests, so that no single one's wait counts.
    const store = (wanted: Wanted[]) => asOwner(companyId, () => saveAllowed(companyId, wanted), {});
    const commit = groupCommit(store, { maxBatch: AT_ONCE, maxWaiting: MAX_WAITING });
    const group = { commit, waiting: 0 };
    this.#groups.set(companyId, group);
    return group;
  }

  /** Errors: 400 for a person who was erased and for too many attributes, 403 beyond the plan, 503. */
  async create(companyId: string, limit: Limit, given: GivenSubscriber): Promise<SubscriberView> {
    const wanted = { ...given, limit };
    // Members of lists are locked, list by list: nobody waits for that who asked for none.
    if (given.lists?.length) return (await saveAllowed(companyId, [wanted]))[0]!();
    const group = this.#groupOf(companyId);
    group.waiting++;
    try {
      return await (await group.commit.add(wanted))();
    } finally {
      if (--group.waiting === 0) this.#groups.delete(companyId);
    }
  }
}
