/**
 * How many subscribers a segment holds. To count them reads all of a company and asks each condition of each: 50 texts in
 * addresses cost 1 µs of a core for each person, in an attribute 28 µs. Where that takes too long a part of them is asked,
 * chosen by a hash of the id, so that it is no special part: of 20,000 asked the share is right to within one percent of
 * all, 19 times of 20. Measured with 200,000 people, in time of PostgreSQL's CPU.
 *
 * Without a trigram index (pg_trgm): it answers texts in addresses at once, but not those in attributes, which are what
 * costs, and an import takes 1.8 times as much CPU with it (6.6 s instead of 3.7).
 */
import { costlyRead } from "../database/bulk.ts";
import { type Client, query, queryOne } from "../database/db.ts";
import { isQueryCanceled } from "../database/outage.ts";
import { type Rules, segmentSql } from "./segment-sql.ts";

/** Together less than what a read may take (bulk.ts). */
const COUNT_MS = 2_500;
const SAMPLE_MS = 2_000;
const ASKED = 20_000;

export interface SegmentCount {
  n: number;
  isEstimate: boolean;
}

interface Counting {
  companyId: string;
  rules: Rules;
  /** Time for the exact number, and for the estimate after it. */
  countMs?: number;
  sampleMs?: number;
}

async function estimated(client: Client, { companyId, rules }: Counting): Promise<number> {
  const total = (await queryOne<{ n: number }>("select count_of($1, 'subscribers', $1) n", [companyId], client))!.n;
  const every = Math.max(1, Math.floor(total / ASKED));
  const { where, values } = segmentSql(rules, companyId, 3);
  // Materialized: the hash is asked of all, the conditions of the part.
  const sql = `
    with s as materialized (
      select * from subscribers where company_id = $1 and mod(hashtext(id::text)::bigint, $2) = 0)
    select count(*) as asked, count(*) filter (where ${where}) as held from s`;
  const { asked, held } = (await queryOne<{ asked: number; held: number }>(
    sql,
    [companyId, every, ...values],
    client,
  ))!;
  return asked === 0 ? 0 : Math.round((held / asked) * total);
}

const limitTo = (client: Client, ms: number) =>
  query("select set_config('statement_timeout', $1, true)", [String(ms)], client);

export function countSegment(counting: Counting): Promise<SegmentCount> {
  const { companyId, rules, countMs = COUNT_MS, sampleMs = SAMPLE_MS } = counting;
  const { where, values } = segmentSql(rules, companyId, 1);
  return costlyRead(companyId, async (client) => {
    await limitTo(client, countMs);
    await client.query("savepoint before_count");
    try {
      const sql = `select count(*) n from subscribers s where ${where}`;
      return { n: (await queryOne<{ n: number }>(sql, values, client))!.n, isEstimate: false };
    } catch (error) {
      if (!isQueryCanceled(error)) throw error;
      await client.query("rollback to savepoint before_count");
      await limitTo(client, sampleMs);
      return { n: await estimated(client, counting), isEstimate: true };
    }
  });
}
