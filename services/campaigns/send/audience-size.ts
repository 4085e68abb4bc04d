/**
 * Returns how many recipients a campaign will have, as far as known without expansion: the list's counter, the number
 * of receivers, or the segment's reachable subscribers (estimated if counting takes too long). Only expansion skips
 * suppressed addresses, and unreachable members of lists and receivers.
 */
import { costlyRead, isTooCostly } from "../../../models/database/bulk.ts";
import { query, queryOne } from "../../../models/database/db.ts";
import { guessedCount } from "../../../models/database/guessed-count.ts";
import { Segment } from "../../../models/segment.ts";
import { segmentSql } from "../../../models/segment-rules/segment-sql.ts";
import { reachableStatuses } from "../../../models/statements/write-audience-slice.ts";
import type { SendParams } from "./send-params.ts";

/** A segment that takes longer to count is estimated from the planner's statistics. */
const COUNT_MS = 250;

type Audience = Pick<SendParams, "receivers" | "segment_id" | "list_id" | "is_transactional">;

export async function audienceSize(companyId: string, params: Audience): Promise<number> {
  if (params.receivers) return params.receivers.length;
  if (params.segment_id) return segmentSize(companyId, params.segment_id, params.is_transactional ?? false);
  const counted = await queryOne<{ n: number }>("select count_of($1, 'list_members', $2) n", [
    companyId,
    params.list_id,
  ]);
  return counted?.n ?? 0;
}

export async function segmentSize(
  companyId: string,
  segmentId: string,
  isTransactional: boolean,
  countMs = COUNT_MS,
): Promise<number> {
  const segment = await Segment.findOne({ attributes: ["rules"], where: { companyId, id: segmentId } });
  if (!segment) return 0;
  const { where, values } = segmentSql(segment.rules, companyId, 3, "joined");
  const members = { from: "subscribers s", where: `s.company_id = $1 and s.status = any($2) and (${where})` };
  const bound = [companyId, reachableStatuses("to_list", isTransactional), ...values];
  try {
    const sql = `select count(*) n from ${members.from} where ${members.where}`;
    const limits = { statementMs: countMs, waitMs: countMs };
    const rows = await costlyRead(companyId, (client) => query<{ n: number }>(sql, bound, client), limits);
    return rows[0]!.n;
  } catch (error) {
    if (!isTooCostly(error)) throw error;
    return guessedCount({ ...members, values: bound });
  }
}
