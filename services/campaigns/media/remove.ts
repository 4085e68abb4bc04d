/**
 * A deleted file is gone for everybody at once; its bytes stay while a campaign that attaches it may still send. A
 * partial or failed campaign may be resumed, and is counted as living for a month.
 */
import { query } from "../../../models/database/db.ts";
import { notFound } from "../../lib/errors.ts";

const UNUSED = `deleted_at is not null and not exists (
  select from campaign_contents k join campaigns c on c.company_id = k.company_id and c.id = k.campaign_id
  where k.company_id = m.company_id and k.media_ids @> array[m.id] and k.media_ids <> '{}'
    and (c.status in ('scheduled', 'pending', 'sending')
      or (c.status in ('partial', 'failed') and c.finished_at > now() - interval '30 days')))`;

export async function removeMedia(companyId: string, id: string): Promise<null> {
  const removed = await query(
    "update media set deleted_at = now() where company_id = $1 and id = $2 and deleted_at is null returning id",
    [companyId, id],
  );
  if (removed.length === 0) throw notFound();
  // A statement of its own: a send that attached the file at this moment has committed before the update went through.
  await query(`delete from media m where m.company_id = $1 and m.id = $2 and ${UNUSED}`, [companyId, id]);
  return null;
}

/** Bytes that no campaign needs any more, of all companies, and what interrupted uploads left behind. */
export async function sweepMedia(): Promise<number> {
  const swept = await query(
    `delete from media m where m.id in (
       select m.id from media m where m.deleted_at < now() - interval '1 hour' and ${UNUSED} limit 1000)
     returning m.id`,
  );
  return swept.length;
}
