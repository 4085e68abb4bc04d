/**
 * How many subscribers a segment holds. To count them reads all of a company and asks each condition of each: 50 texts in
 * addresses cost 1 µs of a core for each person, in an attribute 28 µs. Where that takes too long a part of them is asked,
 * chosen by a hash of the id, so that it is no special part: of 10,000 asked the share is right to within one percent of
 * all, 19 times of 20. Measured with 200,000 people, in time of PostgreSQL's CPU.
 */
import { costlyRead } from "../database/bulk.ts";
import { type Client, queryOne } from "../database/db.ts";
import { subscriberAt } from "../database/row-at.ts";
import { limitStatements, withinTime } from "../database/within-time.ts";
import { type Rules, segmentSql } from "./segment-sql.ts";

/** Together a second at most, where the last of them is not needed. */
const COUNT_MS = 500;
const SAMPLE_MS = 400;
const LAST_MS = 2_000;
/** So few are counted in the end, however busy the machine is. */
const ALL_COUNTED = 50_000;
const FEW_MS = 4_000;
const ASKED = 10_000;
/** Where those take too long: right to within three percent. */
const ASKED_AT_LEAST = 1_000;

interface SegmentCount {
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

/**
 * The ids of all are read from the index alone (50 ms for a million), the rows of the part by their keys. Each one by itself: a
 * join is planned as a scan of all.
 */
async function estimated(
  client: Client,
  { companyId, rules }: Counting,
  people: number,
  part: number,
): Promise<number> {
  const every = Math.max(1, Math.floor(people / part));
  const { where, values } = segmentSql(rules, companyId, 3);
  const sql = `
    with chosen as materialized (
      select id from subscribers where company_id = $1 and mod(uuid_hash(id), $2) = 0)
    select count(*) as asked, count(*) filter (where ${where}) as held
    from chosen c cross join lateral (${subscriberAt("$1", "c.id", "r.*")}) s`;
  const { asked, held } = (await queryOne<{ asked: number; held: number }>(
    sql,
    [companyId, every, ...values],
    client,
  ))!;
  return asked === 0 ? 0 : Math.round((held / asked) * people);
}

export function countSegment(counting: Counting): Promise<SegmentCount> {
  const { companyId, rules } = counting;
  const { where, values } = segmentSql(rules, companyId, 1, "joined");
  return costlyRead(companyId, async (client) => {
    const people = (await queryOne<{ n: number }>("select count_of($1, 'subscribers', $1) n", [companyId], client))!.n;
    const { countMs = people <= ALL_COUNTED ? FEW_MS : COUNT_MS, sampleMs = SAMPLE_MS } = counting;
    const all = async () =>
      (await queryOne<{ n: number }>(`select count(*) n from subscribers s where ${where}`, values, client))!.n;
    const n = await withinTime(client, countMs, all);
    if (n !== undefined) return { n, isEstimate: false };
    const most = await withinTime(client, sampleMs, () => estimated(client, counting, people, ASKED));
    if (most !== undefined) return { n: most, isEstimate: true };
    await limitStatements(client, LAST_MS);
    return { n: await estimated(client, counting, people, ASKED_AT_LEAST), isEstimate: true };
  });
}
