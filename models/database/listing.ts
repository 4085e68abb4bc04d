/**
 * One page of a list: filter, search, order, count. The same rules for every resource: a stable order with ties by id, so
 * that pages never repeat or skip a row. SQL and not `findAndCountAll`: counts come from counters instead of counting a
 * million rows, and the last page of a million costs what the first does.
 */
import type { Model, ModelStatic } from "sequelize";
import { invalid, invalidPage } from "../../services/lib/errors.ts";
import type { ListQuery } from "../../services/lib/shapes.ts";
import { costlyRead } from "./bulk.ts";
import { type Queryable, query, queryOne } from "./db.ts";
import {
  countBoth,
  countUpTo,
  FEW,
  guessedCount,
  hasTrigram,
  LAST_PAGE,
  MANY,
  tooDeep,
  tooManyToSearch,
  tooManyToSort,
  walk,
} from "./filtered-count.ts";
import { fromRow } from "./from-row.ts";

export interface Listing {
  /** Table with its alias, joins included: "subscribers s". */
  from: string;
  columns: string;
  /** Conditions with $1… for `values`; the company's comes first. */
  where: string[];
  values: unknown[];
  /** The row's id, the tie-breaker: "s.id". UUIDv7, so it also is the order of creation. Or the columns of such a key. */
  id: string | readonly string[];
  /** Sortable fields and their SQL. `created_at` is always sortable: by `id`. */
  orderings: Record<string, string>;
  /** SQL texts that `search` looks into, without regard to case. */
  searchIn: string[];
  /** Counter kept by the database for the unfiltered list: [company id, counter, ref]. */
  counter?: [companyId: string, name: string, ref: string];
  /** Another way to know the count without counting rows; not asked when there is a search. */
  count?: () => Promise<number>;
  /** True when `where` holds more than what the counter counts. */
  filtered?: boolean;
  /**
   * A table that may have millions of rows of one company: to count or sort them takes a turn (bulk.ts), and no more of them than
   * filtered-count.ts says. `values` begin with the company.
   */
  large?: boolean;
  /** Of a large table: the fields in whose order an index has its rows, besides `created_at`. */
  indexed?: readonly string[];
  /** Of a large table: an index finds what `searchIn` is searched for. */
  searchIsIndexed?: boolean;
  /** Of a large table: what makes fewer of its rows, for the 400 that asks for it: "`since`, `until`". */
  narrowedBy?: string;
  /** Default "-created_at". */
  defaultOrdering?: string;
  /** Where a place in the order of `id` is found with fewer tables than `from` has: same rows, same `values`. */
  positions?: { from: string; where: string[]; id: string };
  /** In place of `from` where rows are in the order of `id`: what has the first n of them in that direction. */
  nearest?: (n: number, direction: "asc" | "desc") => string;
  /** In place of `from` where rows are in the order of an index that has a part of them: what has the first n in this order, as SQL. */
  parted?: (n: number, where: string, sorted: string) => string;
  /** In place of `from`: the rows with the ids that a statement gives. */
  at?: (ids: string) => string;
  /** `columns` are keys: a row is walked past for no more than what it takes to read it. */
  isOfKeys?: boolean;
  /** Where the columns of rows are read once their ids are known, if that takes less than `from` and `where`. */
  rows?: { from: string; where: string[] };
}

/** From here on only ids are walked, over an index that holds them: 200 thousand in 11 ms instead of 300. */
const DEEP = 1_000;

/** As a part of the pattern of LIKE. */
export const escapeLike = (text: string) => text.replace(/[\\%_]/g, (char) => `\\${char}`);

function order(listing: Listing, ordering: string): { expressions: string[]; descending: boolean } {
  const descending = ordering.startsWith("-");
  const field = descending ? ordering.slice(1) : ordering;
  if (field === "created_at") return { expressions: [listing.id].flat(), descending };
  const expression = Object.hasOwn(listing.orderings, field) ? listing.orderings[field] : undefined;
  if (!expression) {
    const fields = ["created_at", ...Object.keys(listing.orderings)].toSorted().join(", ");
    throw invalid({ ordering: [`"${field}" is not a sortable field. Choose one of: ${fields}.`] });
  }
  return { expressions: [expression, ...[listing.id].flat()], descending };
}

interface Conditions {
  where: string;
  values: unknown[];
  searched: boolean;
  /** Of `where`, the part that searches. */
  search: string;
}

function conditionsOf(listing: Listing, asked: ListQuery): Conditions {
  const values = [...listing.values];
  const conditions = [...listing.where];
  const searched = isSearched(listing, asked);
  let search = "true";
  if (searched) {
    values.push(`%${escapeLike(asked.search!)}%`);
    search = `(${listing.searchIn.map((text) => `${text} ilike $${values.length}`).join(" or ")})`;
    conditions.push(search);
  }
  return { where: conditions.join(" and "), values, searched, search };
}

/** Undefined where they are more than `most` of a large table, and have to be counted one by one. */
async function countRows(
  listing: Listing,
  { where, values, searched }: Conditions,
  most: number,
  on?: Queryable,
): Promise<number | undefined> {
  if (listing.count && !searched) return listing.count();
  if (listing.counter && !searched && !listing.filtered) {
    return (await queryOne<{ n: number }>("select count_of($1, $2, $3) n", listing.counter, on))?.n ?? 0;
  }
  const { from } = listing;
  if (listing.large) return countUpTo(most, { from, where, values }, on);
  return (await queryOne<{ n: number }>(`select count(*) n from ${from} where ${where}`, values, on))?.n ?? 0;
}

const isSearched = ({ searchIn }: Listing, { search }: ListQuery) => Boolean(search) && searchIn.length > 0;

/** Rows are counted one by one: neither a counter nor another way knows how many they are. */
const countsRows = (listing: Listing, asked: ListQuery) =>
  isSearched(listing, asked) || !(listing.count || (listing.counter && !listing.filtered));

/** By anything but the time of creation: all rows are sorted, or walked through from one end. */
const sorts = ({ defaultOrdering }: Listing, { ordering = defaultOrdering ?? "created_at" }: ListQuery) =>
  ordering.replace(/^-/, "") !== "created_at";

export interface Page<T> {
  count: number;
  /** Left out where the number is exact. */
  count_estimated?: true;
  results: T[];
}

export function listPage<T>(listing: Listing, asked: ListQuery): Promise<Page<T>> {
  if (!listing.large || !(countsRows(listing, asked) || sorts(listing, asked))) return readPage(listing, asked);
  return costlyRead(listing.values[0] as string, (client) => readPage<T>(listing, asked, client));
}

interface Place {
  limit: number;
  skip: number;
  direction: "asc" | "desc";
}

/** Rows from a place on, in the order of `expressions`. */
function readRows<T>(
  listing: Listing,
  { where, values, searched }: Conditions,
  expressions: string[],
  { limit, skip, direction }: Place,
  on?: Queryable,
): Promise<T[]> {
  const sorted = (by: string[]) => by.map((expression) => `${expression} ${direction}`).join(", ");
  const ordered = (by: string[]) => `order by ${sorted(by)} limit ${limit} offset ${skip}`;
  const id = [listing.id].flat();
  const byKey = expressions.length === id.length;
  const nearest = byKey
    ? listing.nearest?.(skip + limit, direction)
    : listing.parted?.(skip + limit, where, sorted(expressions));
  const from = nearest ?? listing.from;
  let sql = `select ${listing.columns} from ${from} where ${where} ${ordered(expressions)}`;
  if (skip >= DEEP && !listing.isOfKeys) {
    const byId = byKey && !searched && !listing.filtered ? listing.positions : undefined;
    const ids = byId
      ? `select ${byId.id} from ${byId.from} where ${byId.where.join(" and ")} ${ordered([byId.id])}`
      : `select ${id.join(", ")} from ${from} where ${where} ${ordered(expressions)}`;
    const { from: rows, where: known } = listing.rows ?? listing;
    if (listing.at) {
      const found = `from ${listing.at(ids)} where ${known.join(" and ")}`;
      return query<T>(`select ${listing.columns} ${found} order by ${sorted(expressions)}`, values, on);
    }
    const among = id.length === 1 ? `${id[0]} = any (array(${ids}))` : `(${id.join(", ")}) in (${ids})`;
    const found = [...known, among].join(" and ");
    sql = `select ${listing.columns} from ${rows} where ${found} order by ${sorted(expressions)}`;
  }
  return query<T>(sql, values, on);
}

/** Of rows that are looked through for a text; undefined where it is not known yet how many have it. */
async function countSearched(
  listing: Listing,
  asked: ListQuery,
  { values, search }: Conditions,
  on?: Queryable,
): Promise<number | undefined> {
  const { search: _, ...unsearched } = asked;
  const all = conditionsOf(listing, unsearched);
  if (countsRows(listing, unsearched)) {
    const fitting = await countBoth(MANY, { from: listing.from, where: all.where, values }, search, on);
    if (fitting === undefined) throw tooManyToSearch(listing.narrowedBy);
    return fitting;
  }
  if (((await countRows(listing, all, MANY, on)) ?? Number.POSITIVE_INFINITY) > MANY)
    throw tooManyToSearch(listing.narrowedBy);
  return undefined;
}

/** More fit than are counted: a page is walked to, and one row more says whether there is another. */
async function walkedPage<T>(
  listing: Listing,
  conditions: Conditions,
  { expressions, descending }: ReturnType<typeof order>,
  { page, size }: { page: number; size: number },
  on?: Queryable,
): Promise<Page<T>> {
  if (page > LAST_PAGE) throw tooDeep(listing.narrowedBy);
  if (on) await walk(on);
  const place: Place = { limit: size + 1, skip: (page - 1) * size, direction: descending ? "desc" : "asc" };
  const rows = await readRows<T>(listing, conditions, expressions, place, on);
  if (page > 1 && rows.length === 0) throw invalidPage();
  const seen = place.skip + rows.length;
  if (rows.length <= size) return { count: seen, results: rows };
  const guessed = await guessedCount({ from: listing.from, ...conditions }, on);
  return { count: Math.max(guessed, seen, FEW + 1), count_estimated: true, results: rows.slice(0, size) };
}

async function readPage<T>(listing: Listing, asked: ListQuery, on?: Queryable): Promise<Page<T>> {
  const size = asked.page_size ?? 20;
  const page = asked.page ?? 1;
  const { defaultOrdering = "-created_at", large, indexed = [], narrowedBy } = listing;
  const ordering = asked.ordering ?? defaultOrdering;
  const by = order(listing, ordering);
  const conditions = conditionsOf(listing, asked);
  const looksThrough = large && conditions.searched && !(listing.searchIsIndexed && hasTrigram(asked.search!));
  const fitting = looksThrough ? await countSearched(listing, asked, conditions, on) : undefined;
  const field = ordering.replace(/^-/, "");
  const mustSort = large && field !== "created_at" && !indexed.includes(field);
  const most = mustSort ? MANY : FEW;
  const counted = fitting ?? (await countRows(listing, conditions, most, on));
  const count = fitting === undefined || fitting <= most ? counted : undefined;
  if (mustSort && (count ?? Number.POSITIVE_INFINITY) > MANY) throw tooManyToSort(narrowedBy);
  if (count === undefined) return walkedPage(listing, conditions, by, { page, size }, on);
  const offset = (page - 1) * size;
  if (page > 1 && offset >= count) throw invalidPage();
  if (count === 0) return { count, results: [] };

  // A page beyond the middle is read from the other end: the last page of a million costs what the first does.
  const fromEnd = offset > count / 2;
  const limit = Math.min(size, count - offset);
  const skip = fromEnd ? count - offset - limit : offset;
  const direction = by.descending !== fromEnd ? "desc" : "asc";
  const results = await readRows<T>(listing, conditions, by.expressions, { limit, skip, direction }, on);
  return { count, results: fromEnd ? results.reverse() : results };
}

/** The same with each row as an instance of its model, for its view(). */
export async function listModels<M extends Model>(
  model: ModelStatic<M>,
  listing: Listing,
  asked: ListQuery,
): Promise<Page<M>> {
  const { results, ...page } = await listPage<object>(listing, asked);
  return { ...page, results: results.map((row) => fromRow(model, row)) };
}
