/** Recipients in runs: what one sender leases at a time. */
import { type Client, query } from "../database/db.ts";

/** About a second of work for a slow server, and few enough rows that a claim costs nothing beside it. */
const CHUNK = 500;
/** A small campaign is shared by several senders, and the first mail of a large one does not wait for 500. */
const FIRST_CHUNKS = [50, 50, 100, 100, 200];

export interface Run {
  lo: number;
  hi: number;
}

/** Cuts recipients lo..hi into runs; small ones first at the beginning of a campaign. */
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

/** The caller is the only one that expands this campaign, so the next number is free. */
export async function addChunks(client: Client, campaign: Owner, lo: number, hi: number): Promise<void> {
  const runs = cutIntoRuns(lo, hi);
  await query(
    `insert into send_chunks (campaign_id, no, company_id, smtp_config_id, is_transactional, lo, hi, marked_to)
     select $1, (select coalesce(max(no), 0) from send_chunks where campaign_id = $1 and company_id = $2) + run.no,
       $2, $3, $4, run.lo, run.hi, run.lo - 1
     from unnest($5::int[], $6::int[]) with ordinality as run (lo, hi, no)`,
    [
      campaign.id,
      campaign.company_id,
      campaign.smtp_config_id,
      campaign.is_transactional,
      runs.map((run) => run.lo),
      runs.map((run) => run.hi),
    ],
    client,
  );
}
