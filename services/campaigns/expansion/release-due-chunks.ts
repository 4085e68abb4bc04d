/**
 * Releases chunks of recipients whose local hour has come; from then on they are like all others. One statement changes
 * the senders' chunks and the campaign's row.
 */
import { query } from "../../../models/database/db.ts";
import { SEND_CHUNK_STATE } from "../../../models/send-chunk.ts";

const { ready, waiting } = SEND_CHUNK_STATE;
const MAX_CAMPAIGNS = 200;

interface Waiting {
  company_id: string;
  campaign_id: string;
}

// Chunks of a stopped campaign are not released but failed (fail-untried.ts).
const DUE_CHUNKS = `
  select distinct k.company_id, k.campaign_id
  from send_chunks k join campaigns c on c.company_id = k.company_id and c.id = k.campaign_id
  where k.state = ${waiting} and k.due_at <= now() and c.error is null limit ${MAX_CAMPAIGNS}`;

// Locks the campaign first, as a stop does. `updated_at` records when it could continue
// (services/operator/queue-metrics.ts).
const RELEASE = `
  with going as (
    update campaigns set updated_at = now()
    where company_id = $1 and id = $2 and status in ('pending', 'sending') and error is null
    returning company_id, id)
  update send_chunks k set state = ${ready}
  from going g
  where k.company_id = g.company_id and k.campaign_id = g.id and k.state = ${waiting} and k.due_at <= now()
  returning k.lo, k.hi`;

export interface Released extends Waiting {
  recipients: number;
}

/** Runs for all companies; each chunk is released once on any number of nodes. */
export async function releaseDueChunks(): Promise<Released[]> {
  const released: Released[] = [];
  for (const { company_id, campaign_id } of await query<Waiting>(DUE_CHUNKS)) {
    const chunks = await query<{ lo: number; hi: number }>(RELEASE, [company_id, campaign_id]);
    const recipients = chunks.reduce((sum, { lo, hi }) => sum + hi - lo + 1, 0);
    if (recipients > 0) released.push({ company_id, campaign_id, recipients });
  }
  return released;
}
