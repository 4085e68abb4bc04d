/**
 * Searches, segments, and lists by status, in a company with many people. Up to FEW of them are counted and put in order; where
 * more fit, their number is estimated, and a page is read from one end of an order that an index has, which finds enough of them soon.
 *
 * Measured with a million people on two cores that had twenty other processes to run (`node test/bench console`): the page
 * without a search took 58 ms, with one 59 to 222 ms, whatever was searched for; read in full, as before, it took more than the 5 s
 * that a statement may.
 */
import { costlyRead } from "../../models/database/bulk.ts";
import { type Client, query, queryOne } from "../../models/database/db.ts";
import {
  FEW,
  hasTrigram,
  LAST_PAGE,
  MANY,
  tooDeep,
  tooManyToSearch,
  walk,
} from "../../models/database/filtered-count.ts";
import { escapeLike } from "../../models/database/listing.ts";
import { subscriberAt } from "../../models/database/row-at.ts";
import { SEARCHED_TEXT } from "../../models/subscriber.ts";
import { invalidPage } from "../lib/errors.ts";
import type { ListQuery } from "../lib/shapes.ts";
import { COLUMNS, type SubscriberRow } from "./subscriber.ts";

/** Of the newest, and of the oldest: read in 5 ms. */
const SAMPLED = 2_000;
/** Looked at one by one, 40 ms: of a list and a status the fewer of both, or who has the letters of a search. */
const LOOKED_AT = 15_000;
/** Looked through one behind the other, 50 ms: all people, for a segment. */
const LOOKED_THROUGH = 100_000;

/** A condition on subscribers `s` as SQL; its parameters begin at $first. */
export type Condition = (first: number) => { where: string; values: unknown[] };

export interface Filters extends ListQuery {
  status?: string;
  list?: string;
  /** Of a segment. */
  condition?: Condition;
}

export interface EstimatedPage {
  count: number;
  count_estimated?: true;
  results: SubscriberRow[];
}

export interface Sizes {
  people: number;
  /** Null where it is not asked for. */
  of_status: number | null;
  of_list: number | null;
}

/** As counters know them. */
export async function sizesOf(companyId: string, { status, list }: Filters): Promise<Sizes> {
  const sql = `select count_of($1, 'subscribers', $1) people, case when $2::text is not null then count_of($1, 'subscribers:' || $2, $1) end of_status,
    case when $3::uuid is not null then count_of($1, 'list_members', $3) end of_list`;
  return (await queryOne<Sizes>(sql, [companyId, status ?? null, list ?? null]))!;
}

/** Never fewer than fit. */
export const mostOf = ({ people, of_status, of_list }: Sizes) =>
  Math.min(people, of_status ?? people, of_list ?? people);

/** Of a list and a status, where counters tell it: all people are on the list, or all have the status. */
function knownCount({ status, list, search, condition }: Filters, { people, of_status, of_list }: Sizes) {
  if (!status || !list || search || condition) return undefined;
  if (of_list === people) return of_status!;
  return of_status === people ? of_list! : undefined;
}

/**
 * What the index is asked for. Each run of three letters is a list of rows to go through, and those of a domain are the
 * longest: an address is looked for by what stands before the @ (3,600 pages of the index, or 40), and compared whole then.
 */
function indexedPart(search: string): string {
  const local = search.split("@")[0]!;
  return hasTrigram(local) ? local : search;
}

export const NARROWED_BY = "`status`, `list` or a longer `search`";

interface Asked {
  values: unknown[];
  /** On s, beside company and list. */
  conditions: string[];
  /** The parameter of the list. */
  list: string | undefined;
  /** Who fits is looked for among those of the list, not asked whether they are on it. */
  byList: boolean;
  /** The condition that the index answers, if any. */
  indexed: string | undefined;
  /** The condition that searches, if any. */
  searching: string | undefined;
  /** Of a list and a status alone: who has the status, where they are fewer; all but the active have an index. */
  ofStatus: string | undefined;
}

function conditionsOf(companyId: string, { status, list, search, condition }: Filters, sizes: Sizes): Asked {
  const values: unknown[] = [companyId];
  const add = (value: unknown) => `$${values.push(value)}`;
  const ofList = list ? add(list) : undefined;
  const segment = condition?.(values.length + 1);
  values.push(...(segment?.values ?? []));
  const hasStatus = status && `s.status = ${add(status)}`;
  // Something is appended, so that this is no condition for the index.
  const searching = search ? `(${SEARCHED_TEXT} || '') ilike ${add(`%${escapeLike(search)}%`)}` : undefined;
  const conditions = [
    ...(hasStatus ? [hasStatus] : []),
    ...(searching ? [searching] : []),
    // It may cost more than the others, which leave fewer.
    ...(segment ? [segment.where] : []),
  ];
  const { people, of_status, of_list } = sizes;
  const indexed =
    search !== undefined && hasTrigram(search) && people > FEW
      ? `(${SEARCHED_TEXT}) ilike ${add(`%${escapeLike(indexedPart(search))}%`)}`
      : undefined;
  const byList = of_list !== null && (of_list <= FEW || (!indexed && of_list <= (of_status ?? people)));
  const byStatus = list && status && status !== "active" && !search && !condition && of_status! < of_list!;
  return { values, conditions, list: ofList, byList, indexed, searching, ofStatus: byStatus ? hasStatus : undefined };
}

/** Values of the statements that do not ask the index: its own is the last. */
const used = ({ values, indexed }: Asked) => (indexed ? values.slice(0, -1) : values);

const all = (conditions: readonly string[]) => ["true", ...conditions].join(" and ");

/** Whether s is on the list. */
const isMember = (list: string) => `(select true from list_members m
    where m.company_id = $1 and m.list_id = ${list} and m.subscriber_id = s.id and m.left_at is null limit 1)`;

/**
 * Among whom those who fit are looked for, in the order of `key`, and what is asked of each. Members are looked up by the
 * whole key: a join is planned as a loop over both where nothing is known of new rows, and 6,000 of one status on a list of
 * 12,000 took more than 5 s.
 */
function baseOf({ list, ofStatus, conditions }: Asked) {
  const people = { from: "subscribers s", where: "s.company_id = $1", key: "s.id", conditions };
  if (!list) return people;
  if (ofStatus) return { ...people, where: `${people.where} and ${ofStatus}`, conditions: [isMember(list)] };
  return {
    from: `list_members m cross join lateral (${subscriberAt("$1", "m.subscriber_id", "r.*")}) s`,
    where: `m.company_id = $1 and m.list_id = ${list} and m.left_at is null`,
    key: "m.subscriber_id",
    conditions,
  };
}

const HIT = "s.id, s.company_id, s.email, s.email_key, s.first_name, s.last_name, s.status, s.attributes, s.created_at";

/** Some of those who fit, FEW and one at most: who is not in the index yet comes from the short index of those. */
function hits(asked: Asked, columns: string): string {
  const { list, byList, indexed } = asked;
  const some = `limit ${FEW + 1}`;
  if (byList) {
    const { from, where, conditions } = baseOf(asked);
    return `select ${columns} from ${from} where ${where} and ${all(conditions)} ${some}`;
  }
  const fitting = all(list ? [...asked.conditions, isMember(list)] : asked.conditions);
  const part = (of: string) =>
    `(select ${columns} from subscribers s where s.company_id = $1 and ${of} and ${fitting} ${some})`;
  return indexed ? `${part(`s.in_search and ${indexed}`)} union all ${part("not s.in_search")}` : part("true");
}

interface Place {
  limit: number;
  offset: number;
}

/** As asked for. */
export interface Order {
  /** SQL, the tie-breaker included. */
  sorted: string;
  direction: "asc" | "desc";
  /** By the time of creation. */
  byKey: boolean;
  /** In place of `subscribers s`, where an index has a part of them in this order: what has the first n. */
  parted?: (n: number, where: string, sorted: string) => string;
}

/**
 * The page, where FEW fit at most; else no rows, and a number above FEW. In the order of creation the others' rows are not asked
 * for: 10,000 of a list with a rare status are counted in the index of the status and that of members, 75 ms
 * instead of 190.
 */
async function exactPage(client: Client, asked: Asked, { limit, offset }: Place, { sorted, byKey }: Order) {
  const page = `select * from hits s where counted.n <= ${FEW} order by ${sorted} limit ${limit} offset ${offset}`;
  const rowsOfPage = byKey
    ? `select s.* from (${page}) h cross join lateral (${subscriberAt("$1", "h.id", "*")}) s`
    : page;
  const sql = `
    with hits as materialized (${hits(asked, byKey ? "s.id" : HIT)}), counted as (select count(*) n from hits)
    select counted.n, p.* from counted left join lateral (
      select ${COLUMNS} from (${rowsOfPage}) s order by ${sorted}) p on true`;
  const values = asked.byList ? used(asked) : asked.values;
  const rows = await query<SubscriberRow & { n: number }>(sql, values, client);
  return { n: rows[0]!.n, results: rows.filter(({ id }) => id !== null) as SubscriberRow[] };
}

async function walkedPage(client: Client, asked: Asked, { limit, offset }: Place, order: Order) {
  const { from, where, key, conditions } = baseOf(asked);
  await walk(client);
  const fitting = `${where} and ${all(conditions)}`;
  // One more says whether there is another page. The lists of those before the page are not asked for.
  const most = limit + 1;
  const rows = order.parted?.(offset + most, fitting, order.sorted) ?? from;
  const sql = `select ${COLUMNS} from (
      select s.* from ${rows} where ${fitting}
      order by ${order.byKey ? `${key} ${order.direction}` : order.sorted} limit ${most} offset ${offset}) s
    order by ${order.sorted}`;
  return query<SubscriberRow>(sql, used(asked), client);
}

/**
 * From the share of the newest and of the oldest, of so many as there are in all: who fits, and who has the letters of the search.
 * `least`: by the end that has fewer, because one end alone may be an import of its own kind.
 */
async function sample(client: Client, asked: Asked, { people, of_list, of_status }: Sizes) {
  const { from, where, key, conditions } = baseOf(asked);
  const end = (direction: string) => `(
    select count(*) n, count(*) filter (where ${all(conditions)}) held, count(*) filter (where ${asked.searching ?? "false"}) lettered
    from (select s.* from ${from} where ${where} order by ${key} ${direction} limit ${SAMPLED}) s)`;
  const rows = await query<{ n: number; held: number; lettered: number }>(
    `${end("desc")} union all ${end("asc")}`,
    used(asked),
    client,
  );
  const of = (asked.ofStatus ? of_status : of_list) ?? people;
  const guesses = (count: "held" | "lettered") => rows.map((row) => (row.n === 0 ? 0 : (row[count] / row.n) * of));
  const mean = ([newest = 0, oldest = 0]: number[]) => Math.round((newest + oldest) / 2);
  const fitting = guesses("held");
  return { guessed: mean(fitting), least: Math.min(...fitting), lettered: mean(guesses("lettered")), of };
}

type Sample = Awaited<ReturnType<typeof sample>>;

/** How many are looked at for a page that is exact; undefined where that takes no time that is worth an estimate. */
function lookedAt({ status, list, search, condition }: Filters, asked: Asked, sizes: Sizes, { lettered }: Sample) {
  if (asked.indexed) return !asked.byList && lettered > LOOKED_AT ? lettered : undefined;
  if (condition) return sizes.people > LOOKED_THROUGH ? sizes.people : undefined;
  return status && list && !search && mostOf(sizes) > LOOKED_AT ? mostOf(sizes) : undefined;
}

/** A page is found by walking from one end, before as many are looked at as a page takes that is exact. */
const isSooner = ({ limit, offset }: Place, { least, of }: Sample, most: number | undefined) =>
  most !== undefined && least > 0 && ((offset + limit) / least) * of < most;

/**
 * Undefined where it is not for this to find: more than FEW of a list fit, and no index has them in this order; or those of a
 * segment are to be looked through for a text that no index knows.
 */
export function largePage(
  companyId: string,
  filters: Filters,
  sizes: Sizes,
  order: Order,
): Promise<EstimatedPage | undefined> {
  const { page = 1, page_size: limit = 20 } = filters;
  const place: Place = { limit, offset: (page - 1) * limit };
  const asked = conditionsOf(companyId, filters, sizes);
  const canWalk = order.byKey || !asked.list;
  const known = knownCount(filters, sizes);
  return costlyRead(companyId, async (client) => {
    const sampled =
      known === undefined
        ? await sample(client, asked, sizes)
        : { guessed: known, least: known, lettered: 0, of: known };
    // Of both ends so many that there need be no doubt.
    const isMany = sampled.least > (known === undefined ? 2 * FEW : FEW);
    const most = page <= LAST_PAGE && canWalk ? lookedAt(filters, asked, sizes, sampled) : undefined;
    const isGuess = !isMany && isSooner(place, sampled, most);
    if (!isMany && !isGuess && filters.search && !asked.indexed && mostOf(sizes) > MANY) {
      // Nobody knows yet how many a segment has: it may be few enough.
      if (filters.condition) return undefined;
      throw tooManyToSearch(NARROWED_BY);
    }
    if (!isMany && !isGuess) {
      const { n, results } = await exactPage(client, asked, place, order);
      if (n <= FEW) {
        if (page > 1 && place.offset >= n) throw invalidPage();
        return { count: n, results };
      }
    }
    if (!canWalk) return undefined;
    if (page > LAST_PAGE) throw tooDeep(NARROWED_BY);
    const walked = await walkedPage(client, asked, place, order);
    if (page > 1 && walked.length === 0) throw invalidPage();
    const seen = place.offset + walked.length;
    if (walked.length <= limit) return { count: seen, results: walked };
    const results = walked.slice(0, limit);
    if (known !== undefined) return { count: Math.max(known, seen), results };
    const count = Math.max(sampled.guessed, seen, isGuess ? 0 : FEW + 1);
    return { count, count_estimated: true as const, results };
  });
}
