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
  /** A table that may have millions of rows of one company: to count or sort them takes a turn (bulk.ts). `values` begin with the company. */
  large?: boolean;
  /** Default "-created_at". */
  defaultOrdering?: string;
  /** Where a place in the order of `id` is found with fewer tables than `from` has: same rows, same `values`. */
  positions?: { from: string; where: string[]; id: string };
  /** In place of `from` where rows are in the order of `id`: what has the first n of them in that direction. */
  nearest?: (n: number, direction: "asc" | "desc") => string;
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

async function countRows(
  listing: Listing,
  where: string,
  values: unknown[],
  searched: boolean,
  on?: Queryable,
): Promise<number> {
  if (listing.count && !searched) return listing.count();
  if (listing.counter && !searched && !listing.filtered) {
    return (await queryOne<{ n: number }>("select count_of($1, $2, $3) n", listing.counter, on))?.n ?? 0;
  }
  return (await queryOne<{ n: number }>(`select count(*) n from ${listing.from} where ${where}`, values, on))?.n ?? 0;
}

const isSearched = ({ searchIn }: Listing, { search }: ListQuery) => Boolean(search) && searchIn.length > 0;

/** Rows are counted one by one: neither a counter nor another way knows how many they are. */
const countsRows = (listing: Listing, asked: ListQuery) =>
  isSearched(listing, asked) || !(listing.count || (listing.counter && !listing.filtered));

/** By anything but the time of creation: all rows are sorted, or walked through from one end. */
const sorts = ({ defaultOrdering }: Listing, { ordering = defaultOrdering ?? "created_at" }: ListQuery) =>
  ordering.replace(/^-/, "") !== "created_at";

export function listPage<T>(listing: Listing, asked: ListQuery): Promise<{ count: number; results: T[] }> {
  if (!listing.large || !(countsRows(listing, asked) || sorts(listing, asked))) return readPage(listing, asked);
  return costlyRead(listing.values[0] as string, (client) => readPage<T>(listing, asked, client));
}

async function readPage<T>(
  listing: Listing,
  asked: ListQuery,
  on?: Queryable,
): Promise<{ count: number; results: T[] }> {
  const size = asked.page_size ?? 20;
  const page = asked.page ?? 1;
  const { expressions, descending } = order(listing, asked.ordering ?? listing.defaultOrdering ?? "-created_at");
  const values = [...listing.values];
  const conditions = [...listing.where];
  const searched = isSearched(listing, asked);
  if (searched) {
    values.push(`%${escapeLike(asked.search!)}%`);
    conditions.push(`(${listing.searchIn.map((text) => `${text} ilike $${values.length}`).join(" or ")})`);
  }
  const where = conditions.join(" and ");
  const count = await countRows(listing, where, values, searched, on);
  const offset = (page - 1) * size;
  if (page > 1 && offset >= count) throw invalidPage();
  if (count === 0) return { count, results: [] };

  // A page beyond the middle is read from the other end: the last page of a million costs what the first does.
  const fromEnd = offset > count / 2;
  const limit = Math.min(size, count - offset);
  const skip = fromEnd ? count - offset - limit : offset;
  const direction = descending !== fromEnd ? "desc" : "asc";
  const sorted = (by: string[]) => by.map((expression) => `${expression} ${direction}`).join(", ");
  const ordered = (by: string[]) => `order by ${sorted(by)} limit ${limit} offset ${skip}`;
  const id = [listing.id].flat();
  const byKey = expressions.length === id.length;
  const from = (byKey && listing.nearest?.(skip + limit, direction)) || listing.from;
  let sql = `select ${listing.columns} from ${from} where ${where} ${ordered(expressions)}`;
  if (skip >= DEEP) {
    const byId = byKey && !searched && !listing.filtered ? listing.positions : undefined;
    const ids = byId
      ? `select ${byId.id} from ${byId.from} where ${byId.where.join(" and ")} ${ordered([byId.id])}`
      : `select ${id.join(", ")} from ${from} where ${where} ${ordered(expressions)}`;
    const { from: rows, where: known } = listing.rows ?? listing;
    const among = id.length === 1 ? `${id[0]} = any (array(${ids}))` : `(${id.join(", ")}) in (${ids})`;
    const found = [...known, among].join(" and ");
    sql = `select ${listing.columns} from ${rows} where ${found} order by ${sorted(expressions)}`;
  }
  const results = await query<T>(sql, values, on);
  return { count, results: fromEnd ? results.reverse() : results };
}

/** The same with each row as an instance of its model, for its view(). */
export async function listModels<M extends Model>(
  model: ModelStatic<M>,
  listing: Listing,
  asked: ListQuery,
): Promise<{ count: number; results: M[] }> {
  const { count, results } = await listPage<object>(listing, asked);
  return { count, results: results.map((row) => fromRow(model, row)) };
}
