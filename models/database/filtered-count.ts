/**
 * How many rows of a large table are counted, sorted or looked through for one page of a list, and what is answered where there
 * are more: an estimate, or a 400 that says how to narrow it. What a page costs then does not grow with the table.
 */
import { invalid } from "../../services/lib/errors.ts";
import { type Queryable, query } from "./db.ts";

/** Counted one by one, 500 pages of the usual 20; they take some 5 ms. */
export const FEW = 10_000;
/** Sorted without an index, or looked through for a text that none knows: 30 to 50 ms. */
export const MANY = 50_000;
/** Of what is filtered and is more than FEW: a page is found by walking from one end. */
export const LAST_PAGE = 500;

const narrow = (by: string | undefined) => (by ? ` Narrow the list by ${by}.` : "");

export const tooDeep = (by?: string) =>
  invalid({ page: [`A filtered list of more than ${FEW} entries is read to page ${LAST_PAGE}.${narrow(by)}`] });

export const tooManyToSort = (by?: string) =>
  invalid({ ordering: [`More than ${MANY} entries are not sorted by this field.${narrow(by)}`] });

export const tooManyToSearch = (by?: string) =>
  invalid({ search: [`More than ${MANY} entries are not searched.${narrow(by)}`] });

/** An index of texts knows runs of three letters or digits; shorter ones are looked for in all rows. */
export const hasTrigram = (search: string): boolean => /[\p{L}\p{N}]{3}/u.test(search);

/** Undefined where more than `most` fit. */
export async function countUpTo(
  most: number,
  { from, where, values }: { from: string; where: string; values: unknown[] },
  on?: Queryable,
): Promise<number | undefined> {
  const sql = `select count(*) n from (select from ${from} where ${where} limit ${most + 1}) counted`;
  const [row] = await query<{ n: number }>(sql, values, on);
  return row!.n > most ? undefined : row!.n;
}

/** Of rows that no index finds: how many there are, and how many fit `search`, at one look at each; undefined where more than `most`. */
export async function countBoth(
  most: number,
  { from, where, values }: { from: string; where: string; values: unknown[] },
  search: string,
  on?: Queryable,
): Promise<number | undefined> {
  const sql = `select count(*) n, count(*) filter (where fits) fitting
    from (select ${search} as fits from ${from} where ${where} limit ${most + 1}) counted`;
  const [row] = await query<{ n: number; fitting: number }>(sql, values, on);
  return row!.n > most ? undefined : row!.fitting;
}

interface Planned {
  "QUERY PLAN": { Plan: { "Plan Rows": number } }[];
}

/** What PostgreSQL's statistics say; nothing is read. */
export async function guessedCount(
  { from, where, values }: { from: string; where: string; values: unknown[] },
  on?: Queryable,
): Promise<number> {
  const [row] = await query<Planned>(`explain (format json) select from ${from} where ${where}`, values, on);
  return Math.round(row!["QUERY PLAN"][0]!.Plan["Plan Rows"]);
}

/**
 * Within the transaction: a page is found by walking an index in the list's order. Sorted or gathered by another one, all rows
 * that fit would be read first, and the planner takes that way where it believes that they are few.
 */
export const walk = (on: Queryable) =>
  on.query("select set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true)");
