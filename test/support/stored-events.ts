/** Reads stored events from both of their tables, for tests that check rows. */
import { query } from "../../models/database/db.ts";
import { asEvents, HIT_AS_EVENT, HIT_LOOKUPS, type HitRow } from "../../models/statements/hits.ts";

/** Events of company $1. Rows of `hits` have the mail's numbers instead of its id. */
export const STORED_EVENTS = `(
  select id, type, recipient, null::int as campaign_no, null::int as seq, campaign_id, machine, metadata, created_at,
    sent_email_id, link, is_first, is_first_of_link, variant, false as in_hits
  from email_events where company_id = $1
  union all
  select ${HIT_AS_EVENT}, null, nullif(h.link, 0::smallint), h.flags & 2 = 2, h.flags & 4 = 4, nullif((h.flags >> 3) - 1, -1)::smallint, true
  from hits h join campaigns c on c.no = h.campaign_no and c.company_id = $1 ${HIT_LOOKUPS})`;

export interface StoredEvent extends Omit<HitRow, "type" | "campaign_no"> {
  type: string;
  sent_email_id: string | null;
  link: number | null;
  is_first: boolean;
  is_first_of_link: boolean;
  variant: number | null;
  in_hits: boolean;
}

/** Events in order of time. */
export async function storedEvents(companyId: string): Promise<StoredEvent[]> {
  const rows = await query<StoredEvent & HitRow>(`select * from ${STORED_EVENTS} x order by created_at, id`, [
    companyId,
  ]);
  const hits = new Map(
    (await asEvents(rows.filter(({ in_hits }) => in_hits))).map((hit) => [hit.id, hit.sent_email_id]),
  );
  return rows.map((row) => ({ ...row, sent_email_id: hits.get(row.id) ?? row.sent_email_id }));
}
