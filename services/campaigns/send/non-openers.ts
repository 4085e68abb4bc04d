/**
 * The audience of a campaign to those who did not open another one: that campaign's recipients, by their numbers, slice by
 * slice. Whoever got it (`sent`) and has no open and no click of a person is meant, as it is when the slice is written; who is in
 * doubt did not get it. Of a campaign to a list only those who are still on it: they may have left that one list since. Who is
 * suppressed or has unsubscribed is left out as always, and copies go to nobody again: nobody knows whether they were opened.
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

// By the key of the recipients' parts; who opened it still moves the cursor.
const TAKEN = `select e.seq as at, e.subscriber_id, e.email, e.variables,
    e.status = ${SENT_EMAIL_STATUS.sent} and e.opened_at is null and e.clicked_at is null as is_meant
  from sent_emails e where e.campaign_no = $8 and e.seq > $3::int order by e.seq limit $4`;

// A value and not `exists`: a join would read the whole list for each slice.
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

// The address that the request named: the row's own, or the subscriber's where it is the same.
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

interface First {
  no: number | null;
  list_id: string | null;
}

const FIRST = `
  select c.no, c.list_id from campaigns c
  where c.company_id = $1 and c.id = $2 and c.deleted_at is null and c.recipients_state = 'kept'
    and (c.list_id is null or exists (select from lists l where l.company_id = $1 and l.id = c.list_id))`;

/** Undefined if that campaign, its recipients or its list are no longer there. */
export async function takeNonOpeners(
  client: Client,
  campaign: ExpandingCampaign,
  size: SliceSize,
): Promise<Slice | undefined> {
  const { company_id, campaign_type, resend_of } = campaign;
  const first = await queryOne<First>(FIRST, [company_id, resend_of], client);
  if (!first) return undefined;
  const source = campaign_type === "to_list" ? ofSubscribers : ofInlineReceivers;
  return takeSlice(client, campaign, size, { source, first: "0", values: [first.no, first.list_id] });
}

/** Its recipients without an open, as the counters have it: those who left since are among them. */
const ABOUT = `
  select greatest(c.sent_count - (
    select coalesce(sum(k.n), 0)::bigint from campaign_counts k
    where k.company_id = c.company_id and k.campaign_id = c.id and k.metric = 'opened_unique' and k.bucket = 0), 0)::integer as n
  from campaigns c where c.company_id = $1 and c.id = $2`;

export const aboutNonOpeners = async (companyId: string, campaignId: string): Promise<number> =>
  (await queryOne<{ n: number }>(ABOUT, [companyId, campaignId]))?.n ?? 0;
