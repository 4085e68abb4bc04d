/**
 * Settles doubt by evidence: an open, click, unsubscribe, bounce or complaint shows that an `unknown` mail was handed
 * over. It becomes `sent`, its campaign's counts and final status follow, and `resume` skips it. Idempotent. The
 * caller's transaction holds the emails' rows, locked in key order.
 *
 * The time of the hand-over is unknown: `sent_at` becomes the end or start of its campaign, not the current time,
 * because an open within seconds of it would count as a machine's.
 */
import { type Client, prepared } from "../database/db.ts";
import { SENT_EMAIL_STATUS } from "../sent-email-status.ts";
import { variantsSent } from "./campaign-variants.ts";
import { LATE_COUNTED } from "./record-late-outcomes.ts";
import { MESSAGE_ID, wants } from "./record-outcomes.ts";
import { outboxInsert } from "./webhook-outbox.ts";

const { sent, unknown } = SENT_EMAIL_STATUS;

interface DoubtfulMail {
  id: string;
  company_id: string;
  campaign_no: number;
  seq: number;
  /** The part of its Message-ID before the "@". */
  message_id: string;
  /** False if the mail bounced; webhooks are then notified of the bounce instead. */
  delivered: boolean;
}

const SETTLE = `
  with m as materialized (
    select m.*, c.id as campaign_id, coalesce(c.finished_at, c.started_at, now()) as at
    from unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[], $5::text[], $6::bool[])
      m (id, company_id, campaign_no, seq, message_id, delivered)
    join campaigns c on c.no = m.campaign_no and c.company_id = m.company_id),
  settled as (
    update sent_emails s set status = ${sent}, error = null, sent_at = m.at
    from m where s.campaign_no = m.campaign_no and s.seq = m.seq and s.status = ${unknown}
    returning m.*, s.subscriber_id, s.email, s.variant),
  counts as (
    select campaign_id, count(*)::int as sent, -count(*)::int as failed, -count(*)::int as tried_unsent, 0 as bounced, 0 as queued
    from settled group by campaign_id),
  ${LATE_COUNTED},
  ${variantsSent("settled", "1")},
  delivered as (
    select uuid_v7() as id, w.company_id, 'delivered' as type, coalesce(w.email, p.email) as recipient, w.id as sent_email_id,
      w.campaign_id, now() as created_at,
      jsonb_build_object('smtp_response', null,
        'message_id', ${MESSAGE_ID}) as metadata
    from settled w
    join campaign_contents cc on cc.campaign_id = w.campaign_id and cc.company_id = w.company_id
    left join subscribers p on p.company_id = w.company_id and p.id = w.subscriber_id
    where w.delivered and exists (select from webhook_endpoints p where ${wants("'delivered'", "w.company_id")})),
  queued as (${outboxInsert("delivered")})
  select distinct company_id from queued`;

/** Returns the companies with something for their webhooks. */
export async function settleDoubt(client: Client, mails: readonly DoubtfulMail[]): Promise<string[]> {
  if (mails.length === 0) return [];
  const columns = [
    mails.map(({ id }) => id),
    mails.map(({ company_id }) => company_id),
    mails.map(({ campaign_no }) => campaign_no),
    mails.map(({ seq }) => seq),
    mails.map(({ message_id }) => message_id),
    mails.map(({ delivered }) => delivered),
  ];
  const rows = await prepared<{ company_id: string }>("settle doubt", SETTLE, columns, client);
  return rows.map(({ company_id }) => company_id);
}
