import { type Queryable, query } from "./db.ts";

interface Planned {
  "QUERY PLAN": { Plan: { "Plan Rows": number } }[];
}

/** The planner's estimate of a number of rows, from PostgreSQL's statistics; no row is read. */
export async function guessedCount(
  { from, where, values }: { from: string; where: string; values: unknown[] },
  client?: Queryable,
): Promise<number> {
  const [row] = await query<Planned>(`explain (format json) select from ${from} where ${where}`, values, client);
  return Math.round(row!["QUERY PLAN"][0]!.Plan["Plan Rows"]);
}
