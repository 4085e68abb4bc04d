/**
 * How many recipients a campaign will have at most, as far as that is known immediately: the list's counter, or the
 * number of receivers. Exact only after expansion, which leaves out suppressed, unsubscribed and unconfirmed ones.
 */
import { query, queryOne, transaction } from "../../../models/database/db.ts";
import { Segment } from "../../../models/segment.ts";
import { segmentSql } from "../../../models/segment-rules/segment-sql.ts";
import type { SendParams } from "./send-params.ts";

/** A segment that takes longer to count is estimated from the planner's statistics, so that the request need not wait. */
const COUNT_MS = 250;
const QUERY_CANCELED = "57014";

export async function audienceSize(companyId: string, params: SendParams): Promise<number> {
  if (params.receivers) return params.receivers.length;
  if (params.segment_id) return segmentSize(companyId, params.segment_id);
  const counted = await queryOne<{ n: number }>("select count_of($1, 'list_members', $2) n", [
    companyId,
    params.list_id,
  ]);
  return counted?.n ?? 0;
}

export async function segmentSize(companyId: string, segmentId: string, countMs = COUNT_MS): Promise<number> {
  const segment = await Segment.findOne({ attributes: ["rules"], where: { companyId, id: segmentId } });
  if (!segment) return 0;
  const { where, values } = segmentSql(segment.rules, companyId, 2);
  const members = `from subscribers s where s.company_id = $1 and s.status = 'active' and (${where})`;
  try {
    return await transaction(async (client) => {
      await query("select set_config('statement_timeout', $1, true)", [String(countMs)], client);
      const rows = await query<{ n: number }>(`select count(*) n ${members}`, [companyId, ...values], client);
      return rows[0]!.n;
    });
  } catch (error) {
    if ((error as { code?: string }).code !== QUERY_CANCELED) throw error;
    const plan = await query<{ "QUERY PLAN": [{ Plan: { "Plan Rows": number } }] }>(
      `explain (format json) select 1 ${members}`,
      [companyId, ...values],
    );
    return Math.round(plan[0]!["QUERY PLAN"][0].Plan["Plan Rows"]);
  }
}
