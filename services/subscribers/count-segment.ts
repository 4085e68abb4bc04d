/** Counts the subscribers of a segment: exactly if that is fast enough, else by the planner's estimate. */
import { costlyRead } from "../../models/database/bulk.ts";
import { queryOne } from "../../models/database/db.ts";
import { guessedCount } from "../../models/database/guessed-count.ts";
import { withinTime } from "../../models/database/within-time.ts";
import { type Rules, segmentSql } from "../../models/segment-rules/segment-sql.ts";

const COUNT_MS = 2_000;

interface SegmentCount {
  n: number;
  isEstimate: boolean;
}

export function countSegment(companyId: string, rules: Rules, countMs = COUNT_MS): Promise<SegmentCount> {
  const { where, values } = segmentSql(rules, companyId, 1, "joined");
  const rows = { from: "subscribers s", where, values };
  return costlyRead(companyId, async (client) => {
    const sql = `select count(*) n from ${rows.from} where ${where}`;
    const counted = await withinTime(client, countMs, () => queryOne<{ n: number }>(sql, values, client));
    return counted ? { n: counted.n, isEstimate: false } : { n: await guessedCount(rows, client), isEstimate: true };
  });
}
