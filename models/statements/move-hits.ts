/**
 * Moves hits to email_events before their recipients are deleted: those rows are complete and kept as long as events
 * are. Ids and counts stay the same.
 */
import { type Client, query } from "../database/db.ts";
import { HIT_FLAG, HIT_VARIANT_SHIFT } from "../hit.ts";
import { companyNo, HIT_AS_EVENT, HIT_LOOKUPS } from "./hits.ts";
import { mailIds } from "./mail-key.ts";

const WITH_HITS = `
  select distinct seq from hits
  where company_no = ${companyNo("$1")} and hit_mail(campaign_no, seq) between hit_mail($2, $3) and hit_mail($2, $4)`;

const isSet = (flag: number) => `h.flags & ${flag} = ${flag}`;

const MOVE = `
  with h as (
    delete from hits h using unnest($3::int[]) k (seq)
    where h.company_no = ${companyNo("$1")} and hit_mail(h.campaign_no, h.seq) = hit_mail($2, k.seq)
    returning h.*)
  insert into email_events (id, company_id, campaign_id, sent_email_id, type, recipient, machine, link, is_first,
    is_first_of_link, metadata, created_at, variant)
  select h.id, $1, h.campaign_id, m.id, h.type, h.recipient, h.machine, nullif(h.link, 0), h.is_first, h.is_first_of_link,
    h.metadata, h.created_at, h.variant
  from (
    select ${HIT_AS_EVENT}, h.link, ${isSet(HIT_FLAG.first)} as is_first, ${isSet(HIT_FLAG.firstOfLink)} as is_first_of_link,
      nullif((h.flags >> ${HIT_VARIANT_SHIFT}) - 1, -1) as variant
    from h join campaigns c on c.no = h.campaign_no and c.company_id = $1 ${HIT_LOOKUPS}) h
  join unnest($3::int[], $4::uuid[]) m (seq, id) on m.seq = h.seq`;

/**
 * Moves hits of a range of the campaign's recipients, whose rows the caller has locked, so that no hit arrives in
 * between.
 */
export async function moveHits(
  client: Client,
  of: { companyId: string; campaignNo: number; from: number; to: number },
): Promise<void> {
  const { companyId, campaignNo, from, to } = of;
  const rows = await query<{ seq: number }>(WITH_HITS, [companyId, campaignNo, from, to], client);
  if (rows.length === 0) return;
  const seqs = rows.map(({ seq }) => seq);
  const ids = (await mailIds()).of(seqs.map((seq) => ({ campaign_no: campaignNo, seq })));
  await client.query("set local flockmail.moving = 'on'");
  await client.query(MOVE, [companyId, campaignNo, seqs, ids]);
}
