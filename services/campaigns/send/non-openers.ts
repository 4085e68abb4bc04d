/**
 * Audience of a resend: recipients of another campaign, by number and in slices, who got it (`sent`) and have no open
 * or click by a person when the slice is written. Recipients in doubt did not get it. For a list campaign only current
 * members count. Suppressed and unsubscribed addresses are skipped as always. Copies are not resent, because their
 * opens are unknown.
 */
import { type Client, queryOne } from "../../../models/database/db.ts";
import { subscriberAt, subscriberOf } from "../../../models/database/row-at.ts";
import { SENT_EMAIL_STATUS } from "../../../models/sent-email-status.ts";
import type { Source } from "../../../models/statements/audience-source.ts";
import {
  type ExpandingCampaign,
  type Slice,
  type SliceSize,
  takeSlice,
} from "../../../models/statements/write-audience-slice.ts";

// Reads by the primary key of the recipients' partition; openers also advance the cursor.
const TAKEN = `select e.seq as at, e.subscriber_id, e.email, e.variables,
    e.status = ${SENT_EMAIL_STATUS.sent} and e.opened_at is null and e.clicked_at is null as is_meant
  from sent_emails e where e.campaign_no = $8 and e.seq > $3::int order by e.seq limit $4`;

// A scalar subquery instead of `exists`, because a join would read the whole list for each slice.
const STILL_ON_LIST = `($9::uuid is null or coalesce((
  select m.left_at is null from list_members m
  where m.company_id = $1 and m.list_id = $9 and m.subscriber_id = t.subscriber_id), false))`;

export const ofSubscribers: Source = {
  taken: TAKEN,
  person: `select t.at, s.* from taken t,
      lateral (${subscriberAt("$1", "t.subscriber_id", "r.id as subscriber_id, r.email, r.email_key, r.status")}) s
    where t.is_meant and ${STILL_ON_LIST}`,
  areNamed: false,
  mails: "1",
};

// The requested address is stored in the row, or with the subscriber if it is the same.
const ofInlineReceivers: Source = {
  taken: TAKEN,
  person: `select t.at, s.id as subscriber_id, a.email, case when s.email is distinct from a.email then a.email end as own_email,
      address_key(a.email) as email_key, null::text[] as cc, null::text[] as bcc, t.variables, s.status
    from taken t
    left join lateral (${subscriberAt("$1", "t.subscriber_id", "r.email")}) o on t.email is null
    cross join lateral (select coalesce(t.email, o.email) as email) a
    left join lateral (${subscriberOf("$1", "address_key(a.email)", "r.id, r.email, r.status")}) s on true
    where t.is_meant and a.email <> '' and $9::uuid is null`,
  areNamed: true,
  mails: "1",
};

interface Original {
  no: number | null;
  list_id: string | null;
}

const SELECT_ORIGINAL = `
  select c.no, c.list_id from campaigns c
  where c.company_id = $1 and c.id = $2 and c.deleted_at is null and c.recipients_state = 'kept'
    and (c.list_id is null or exists (select from lists l where l.company_id = $1 and l.id = c.list_id))`;

/** Undefined if the campaign, its recipients or its list no longer exist. */
export async function takeNonOpeners(
  client: Client,
  campaign: ExpandingCampaign,
  size: SliceSize,
): Promise<Slice | undefined> {
  const { company_id, campaign_type, resend_of } = campaign;
  const first = await queryOne<Original>(SELECT_ORIGINAL, [company_id, resend_of], client);
  if (!first) return undefined;
  const source = campaign_type === "to_list" ? ofSubscribers : ofInlineReceivers;
  return takeSlice(client, campaign, size, { source, first: "0", values: [first.no, first.list_id] });
}

/** Number of recipients without an open by the counters, including those who left since. */
const ABOUT = `
  select greatest(c.sent_count - (
    select coalesce(sum(k.n), 0)::bigint from campaign_counts k
    where k.company_id = c.company_id and k.campaign_id = c.id and k.metric = 'opened_unique' and k.bucket = 0), 0)::integer as n
  from campaigns c where c.company_id = $1 and c.id = $2`;

export const estimateNonOpeners = async (companyId: string, campaignId: string): Promise<number> =>
  (await queryOne<{ n: number }>(ABOUT, [companyId, campaignId]))?.n ?? 0;
