/**
 * Cuts new recipients into chunks: the rows that senders lease. Written in the transaction that writes the recipients
 * (campaigns) although senders own them from then on, so that no recipient is ever without a chunk.
 */
import { type Client, query } from "../database/db.ts";
import { SEND_CHUNK_STATE } from "../send-chunk.ts";

/** Chunk size: about a second of work for a slow server, and small enough that claims stay cheap. */
const CHUNK = 500;
/**
 * Size of a campaign's first chunks, so that several senders share a small campaign and the first email of a large one
 * does not wait for 500.
 */
const FIRST_CHUNKS = [50, 50, 100, 100, 200];

export interface Run {
  lo: number;
  hi: number;
}

/** Cuts recipients lo..hi (both included) into runs; the first runs of a campaign are small. */
export function cutIntoRuns(lo: number, hi: number): Run[] {
  const sizes = lo === 1 ? FIRST_CHUNKS.values() : [].values();
  const runs: Run[] = [];
  for (let at = lo; at <= hi; ) {
    const end = Math.min(at + (sizes.next().value ?? CHUNK) - 1, hi);
    runs.push({ lo: at, hi: end });
    at = end + 1;
  }
  return runs;
}

interface Owner {
  id: string;
  company_id: string;
  smtp_config_id: string;
  is_transactional: boolean;
}

const INSERT = `
  insert into send_chunks (campaign_id, no, company_id, smtp_config_id, is_transactional, lo, hi, marked_to, state, due_at)
  select $1, (select coalesce(max(no), 0) from send_chunks where campaign_id = $1 and company_id = $2) + run.no,
    $2, $3, $4, run.lo, run.hi, run.lo - 1,
    case when run.due_at is null then $7 else ${SEND_CHUNK_STATE.waiting} end, run.due_at
  from unnest($5::int[], $6::int[], $8::timestamptz[]) with ordinality as run (lo, hi, due_at, no)`;

/** Number of consecutive recipients and the time from which they may be sent to; null: at once. */
export interface Due {
  due: string | null;
  count: number;
}

type TimedRun = Run & Partial<Pick<Due, "due">>;

/** Returns the runs of recipients from `lo` on; all recipients of a run have the same time. */
export function runsByTime(lo: number, dues: readonly Due[]): TimedRun[] {
  let next = lo;
  return dues.flatMap(({ due, count }) => {
    const runs = cutIntoRuns(next, next + count - 1);
    next += count;
    return runs.map((run) => ({ ...run, due }));
  });
}

/**
 * Only the caller expands this campaign, so the next chunk number is free. `held`: not sent before the winner of the
 * variants is known.
 */
export async function addChunks(
  client: Client,
  campaign: Owner,
  runs: readonly TimedRun[],
  { held = false } = {},
): Promise<void> {
  if (runs.length === 0) return;
  const { id, company_id, smtp_config_id, is_transactional } = campaign;
  const bounds = [runs.map((run) => run.lo), runs.map((run) => run.hi)];
  const times = runs.map(({ due = null }) => due);
  const state = held ? SEND_CHUNK_STATE.waiting : SEND_CHUNK_STATE.ready;
  await query(INSERT, [id, company_id, smtp_config_id, is_transactional, ...bounds, state, times], client);
}
