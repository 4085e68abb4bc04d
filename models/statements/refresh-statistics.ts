/**
 * PostgreSQL's statistics of people, members of lists and suppressions, where a company has outgrown them. Of a company that they
 * do not know the planner expects one row, for which each index that begins with the company is as good as the one of the whole
 * key: it reads all of the company's rows for each row that it looks up. Autovacuum analyses a table when a twentieth of it has
 * changed, at the earliest after a minute: beside a million people of others, 9,500 that were imported are unknown for days.
 *
 * Measured with these beside 20,000 of another company: pages of a list by status or with a search, its export and an erasure
 * met the time that their statements may take (5 and 30 s; 503), a segment's page took 3.5 to 6 s. Afterwards 20 to 300 ms.
 */
import { LRUCache } from "lru-cache";
import { atMost } from "../../services/lib/at-most.ts";
import { query } from "../database/db.ts";
import { guessedCount } from "../database/filtered-count.ts";
import { isDatabaseOutage } from "../database/outage.ts";

/** Of fewer rows all can be read each time. */
const FEW = 1_000;
/** The planner is right to within this factor where it matters. */
const TOO_FEW = 10;
const MAX_REMEMBERED = 10_000;

const COUNTED = `
  select name, sum(n)::int as n from counters
  where company_id = $1 and name in ('subscribers', 'list_members', 'suppressions') group by name having sum(n) >= ${FEW}`;

/** By table and company: its rows when the tables were last analysed for them. A sample may miss it, and would each time. */
const analysedAt = new LRUCache<string, number>(atMost(MAX_REMEMBERED));

/**
 * Where the company has many times the rows that the planner expects, or `alsoIfKnown`, the tables are analysed: some 0.1 to 1 s. What
 * was written is there without it: where PostgreSQL is away or busy now, autovacuum analyses them later.
 */
export const refreshStatistics = (companyId: string, { alsoIfKnown = false } = {}): Promise<void> =>
  (alsoIfKnown ? analyse() : refresh(companyId)).catch((error: unknown) => {
    if (!isDatabaseOutage(error)) throw error;
  });

const analyse = () => query("select analyze_subscribers()").then(() => undefined);

async function refresh(companyId: string): Promise<void> {
  const counted = await query<{ name: string; n: number }>(COUNTED, [companyId]);
  for (const { name, n } of counted) {
    if (n < 2 * (analysedAt.get(`${name} ${companyId}`) ?? 0)) continue;
    // The planner's own, by which every other statement is planned.
    const expected = await guessedCount({ from: name, where: "company_id = $1", values: [companyId] });
    if (expected * TOO_FEW >= n) continue;
    await analyse();
    for (const table of counted) analysedAt.set(`${table.name} ${companyId}`, table.n);
    return;
  }
}
