/**
 * Reads one page of a list: filter, search, order, count. The same rules for every resource.
 *
 * Pages follow each other by keyset: `next` and `previous` contain the sort key of the row where a page ends, and the
 * next page starts after it. So each page costs the same, and a row whose key does not change is listed once, whatever
 * is added or removed in between. `page=` finds the row before that page by its offset and continues from there.
 *
 * `count` comes from a counter if there is one, otherwise rows are counted. If that takes longer than COUNT_MS, it is
 * the planner's estimate, marked by `count_estimated`.
 */
import type { Model, ModelStatic } from "sequelize";
import { invalid, invalidPage } from "../../services/lib/errors.ts";
import type { ListQuery } from "../../services/lib/shapes.ts";
import { costlyRead } from "./bulk.ts";
import { type Client, query, queryOne } from "./db.ts";
import { fromRow } from "./from-row.ts";
import { guessedCount } from "./guessed-count.ts";
import { type Cursor, openCursor, sealCursor } from "./page-cursor.ts";
import { withinTime } from "./within-time.ts";

export interface Listing {
  /** Table with its alias, joins included: "subscribers s". */
  from: string;
  columns: string;
  /** Conditions with $1… for `values`; the company's comes first. */
  where: string[];
  values: unknown[];
  /** The row's id, the tie-breaker: "s.id". UUIDv7, so it also is the order of creation. Or the columns of such a key. */
  id: string | readonly string[];
  /** Sortable fields and their SQL, which is never null. `created_at` is always sortable: by `id`. */
  orderings: Record<string, string>;
  /** SQL texts that `search` looks into, without regard to case. */
  searchIn: string[];
  /** Counter kept by the database for the unfiltered list: [company id, counter, ref]. */
  counter?: [companyId: string, name: string, ref: string];
  /** Another way to know the count without counting rows; not asked when there is a search. */
  count?: () => Promise<number>;
  /** True when `where` holds more than what the counter counts. */
  filtered?: boolean;
  /** The table may have millions of rows of one company: counting and sorting them counts as costly (bulk.ts). `values` begin with the company. */
  large?: boolean;
  /** Default "-created_at". */
  defaultOrdering?: string;
  /** Replaces `from` for rows in `id` order: a source that reads no more of each of its parts than the page needs. */
  nearest?: (page: PageRange) => string;
}

/** SQL of an equality filter with one value, or any of several; adds them to `values`. */
export const isOneOf = (column: string, given: unknown, values: unknown[]): string =>
  Array.isArray(given) ? `${column} = any($${values.push(given)})` : `${column} = $${values.push(given)}`;

/** Range of a page: the first rows in an order after a key. */
export interface PageRange {
  direction: "asc" | "desc";
  limit: number;
  /** Parameters with the key; absent at the start. */
  place?: readonly string[] | undefined;
}

/** SQL: true if a row's key comes after the given key. */
export const isAfterKey = (key: readonly string[], { direction, place }: PageRange): string =>
  place ? `(${key.join()}) ${direction === "desc" ? "<" : ">"} (${place.join()})` : "true";

export interface Page<T> {
  count: number;
  /** Left out where the number is exact. */
  count_estimated?: true;
  /** Cursors; the gateway makes addresses of them. */
  next: string | null;
  previous: string | null;
  results: T[];
}

const COUNT_MS = 2_000;
/** Sorting or searching millions of rows that no index has in order. */
const MAX_PAGE_MS = 15_000;

const escapeLike = (text: string) => text.replace(/[\\%_]/g, (char) => `\\${char}`);

/** SQL of a search without regard to case in any of the texts; adds its pattern to `values`. */
export function searchCondition(texts: readonly string[], search: string, values: unknown[]): string {
  const pattern = `$${values.push(`%${escapeLike(search)}%`)}`;
  return `(${texts.map((text) => `${text} ilike ${pattern}`).join(" or ")})`;
}

function sortKeyOf(listing: Listing, field: string): string[] {
  const id = [listing.id].flat();
  if (field === "created_at") return id;
  const expression = Object.hasOwn(listing.orderings, field) ? listing.orderings[field] : undefined;
  if (expression) return [...new Set([expression, ...id])];
  const fields = ["created_at", ...Object.keys(listing.orderings)].toSorted().join(", ");
  throw invalid({ ordering: [`"${field}" is not a sortable field. Choose one of: ${fields}.`] });
}

/** A list as it was asked for. */
interface Reading {
  listing: Listing;
  /** Including the search. */
  where: string[];
  values: unknown[];
  isSearched: boolean;
  key: string[];
  isDescending: boolean;
  on?: Client;
}

function readingOf(listing: Listing, asked: ListQuery): Reading {
  const { ordering = listing.defaultOrdering ?? "-created_at" } = asked;
  const isSearched = Boolean(asked.search) && listing.searchIn.length > 0;
  const where = [...listing.where];
  const values = [...listing.values];
  if (isSearched) where.push(searchCondition(listing.searchIn, asked.search!, values));
  return {
    listing,
    where,
    values,
    isSearched,
    key: sortKeyOf(listing, ordering.replace(/^-/, "")),
    isDescending: ordering.startsWith("-"),
  };
}

const isInOrderOfId = ({ listing, key }: Reading) => key.length === [listing.id].flat().length;

/** The sort key of a row, for the cursors. */
interface Keyed {
  page_key: string[];
}

interface Rows {
  /** Columns to select; only the keys if unset. */
  columns?: string;
  cursor?: Cursor | undefined;
  offset?: number;
  limit: number;
}

/** Rows behind the cursor; of a backward one from the end of the page on. */
function select<R>(reading: Reading, { columns, cursor, offset = 0, limit }: Rows): Promise<(R & Keyed)[]> {
  const { listing, where, key, isDescending, on } = reading;
  const direction = isDescending !== (cursor?.isBackward ?? false) ? "desc" : "asc";
  const values = [...reading.values];
  const keyParameters = cursor?.key?.map((text) => `$${values.push(text)}`);
  const stretch: PageRange = { direction, limit: offset + limit, place: keyParameters };
  const nearest = isInOrderOfId(reading) && !reading.isSearched ? listing.nearest?.(stretch) : undefined;
  const sql = `select ${columns ? `${columns}, ` : ""}array[${key.map((part) => `(${part})::text`).join()}] as page_key
    from ${nearest ?? listing.from} where ${[...where, isAfterKey(key, stretch)].join(" and ")}
    order by ${key.map((part) => `${part} ${direction}`).join()} limit ${limit} offset ${offset}`;
  return query<R & Keyed>(sql, values, on);
}

/** Key before the page with this number. */
async function cursorOf(reading: Reading, page: number, size: number): Promise<Cursor> {
  const [last] = await select(reading, { offset: (page - 1) * size - 1, limit: 1 });
  if (!last) throw invalidPage();
  return { key: last.page_key, isBackward: false };
}

type Counted = Pick<Page<unknown>, "count" | "count_estimated">;

async function countRows({ listing, where, values, isSearched, on }: Reading, cursor?: Cursor): Promise<Counted> {
  const { count, counter, filtered, from } = listing;
  if (count && !isSearched) return { count: await count() };
  if (counter && !filtered && !isSearched) {
    return { count: (await queryOne<{ n: number }>("select count_of($1, $2, $3) n", counter, on))?.n ?? 0 };
  }
  if (cursor?.estimate !== undefined) return { count: cursor.estimate, count_estimated: true };
  const rows = { from, where: where.join(" and "), values };
  const sql = `select count(*) n from ${rows.from} where ${rows.where}`;
  const countAll = async () => (await queryOne<{ n: number }>(sql, values, on))!.n;
  const exact = on ? await withinTime(on, COUNT_MS, countAll) : await countAll();
  return exact === undefined ? { count: await guessedCount(rows, on), count_estimated: true } : { count: exact };
}

async function readPage<T extends object>(reading: Reading, asked: ListQuery): Promise<Page<T>> {
  const { page = 1, page_size: size = 20 } = asked;
  const order = `${reading.key.join()} ${reading.isDescending}`;
  const opened = asked.cursor === undefined ? undefined : openCursor(asked.cursor, order);
  const cursor = opened ?? (page > 1 ? await cursorOf(reading, page, size) : undefined);
  const isBackward = cursor?.isBackward ?? false;
  const isFirst = !cursor?.key && !isBackward;
  const found = await select<T>(reading, { columns: reading.listing.columns, cursor, limit: size + 1 });
  if (page > 1 && !opened && found.length === 0) throw invalidPage();
  const hasMore = found.length > size;
  const rows = found.slice(0, size);
  if (isBackward) rows.reverse();
  const counted = isFirst && !hasMore ? { count: rows.length } : await countRows(reading, cursor);
  const estimate = counted.count_estimated ? { estimate: counted.count } : {};
  // An empty page: all later rows were removed, so its cursors lead to the end or start of the list.
  const cursorAt = (row: Keyed | undefined, backward: boolean) =>
    sealCursor({ key: row?.page_key ?? null, isBackward: backward, ...estimate }, order);
  const [hasNext, hasPrevious] = isBackward ? [cursor?.key !== null, hasMore] : [hasMore, !isFirst];
  return {
    ...counted,
    next: hasNext ? cursorAt(rows.at(-1), false) : null,
    previous: hasPrevious ? cursorAt(rows[0], true) : null,
    results: rows.map(({ page_key: _, ...row }) => row as unknown as T),
  };
}

/** Rows have to be counted or sorted. */
const isCostly = (reading: Reading): boolean => {
  const { large, count, counter, filtered } = reading.listing;
  const isCounted = !reading.isSearched && Boolean(count || (counter && !filtered));
  return Boolean(large) && !(isCounted && isInOrderOfId(reading));
};

export function listPage<T extends object>(listing: Listing, asked: ListQuery): Promise<Page<T>> {
  const reading = readingOf(listing, asked);
  if (!isCostly(reading)) return readPage(reading, asked);
  const [companyId] = listing.values as [string];
  return costlyRead(companyId, (on) => readPage<T>({ ...reading, on }, asked), { statementMs: MAX_PAGE_MS });
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
