/**
 * SQL fragments that turn stored hits, which omit derivable values (models/hit.ts), into rows like those of
 * email_events.
 */

import type { MailNumber } from "../../services/lib/tokens/mail-id.ts";
import { type Queryable, query } from "../database/db.ts";
import { HIT_FLAG } from "../hit.ts";
import { mailIds } from "./mail-key.ts";

/** Tolerance for nodes' clocks and the delivery time of an email. */
const BEFORE = "interval '1 hour'";

/** SQL: true if a hit with this id can belong to this campaign (its alias). Skips partitions of earlier months. */
export const sinceCampaign = (id: string, campaign: string): string =>
  `${id} >= first_hit_id(${campaign}.created_at - ${BEFORE})`;

export const companyNo = (company: string): string => `(select no from companies where id = ${company})`;

export const HIT_TYPE = "case h.link when 0 then 'opened' else 'clicked' end";

/**
 * SQL: the hits `h` of each email `k`, one look-up for each: "offset 0" keeps the planner from reading a month's table
 * at once, which looks cheap while it knows nothing of it.
 */
const hitsOfEach = (more = "true"): string => `
  cross join lateral (
    select * from hits h
    where hit_mail(h.campaign_no, h.seq) = hit_mail(k.campaign_no, k.seq) and ${sinceCampaign("h.id", "c")} and ${more}
    offset 0) h`;

/**
 * SQL: hits `h` of the company's emails, with their campaign `c`. `mails`: any source of campaign_no and seq with the
 * alias k.
 */
export const hitsOfMails = (mails: string, company: string): string => `
  ${mails}
  join campaigns c on c.no = k.campaign_no and c.company_id = ${company}
  ${hitsOfEach()}`;

/** SQL: joins mail, subscriber and links to hits `h` of campaigns `c`. */
export const HIT_LOOKUPS = `
  join sent_emails s on s.campaign_no = h.campaign_no and s.seq = h.seq
  left join subscribers p on p.company_id = c.company_id and p.id = s.subscriber_id
  left join campaign_contents t on t.company_id = c.company_id and t.campaign_id = c.id`;

export const HIT_RECIPIENT = "coalesce(s.email, p.email)";

const MACHINE = `(h.flags & ${HIT_FLAG.machine} = ${HIT_FLAG.machine})`;

/** Columns as in email_events, as far as they are read; `sent_email_id` is computed (asEvents). */
export const HIT_AS_EVENT = `
  h.id, ${HIT_TYPE} as type, ${HIT_RECIPIENT} as recipient, h.campaign_no, h.seq, c.id as campaign_id,
  ${MACHINE} as machine,
  jsonb_build_object('user_agent', h.agent, 'ip', coalesce(host(h.ip), ''), 'machine', ${MACHINE})
    || case h.link when 0 then '{}' else jsonb_build_object('url', t.links[h.link]) end as metadata,
  hit_at(h.id) as created_at`;

interface HitEvent {
  id: string;
  type: "opened" | "clicked";
  recipient: string;
  sent_email_id: string;
  campaign_id: string;
  machine: boolean;
  metadata: Record<string, unknown>;
  created_at: Date;
}

/** A row of `HIT_AS_EVENT`. */
export type HitRow = Omit<HitEvent, "sent_email_id"> & MailNumber;

/** Reads the company's hits by their keys, in any order. */
const BY_KEY = `
  select ${HIT_AS_EVENT}
  from unnest($2::uuid[], $3::int[], $4::int[]) k (id, campaign_no, seq)
  join campaigns c on c.no = k.campaign_no and c.company_id = $1
  ${hitsOfEach("h.id = k.id")}
  ${HIT_LOOKUPS}`;

export interface HitKey extends MailNumber {
  id: string;
}

/** Adds the computed ids of the emails. */
export async function asEvents(rows: readonly HitRow[]): Promise<HitEvent[]> {
  const ids = (await mailIds()).of(rows);
  return rows.map(({ campaign_no: _, seq: __, ...row }, n) => ({
    ...row,
    sent_email_id: ids[n]!,
  }));
}

export async function hitsAt(companyId: string, keys: readonly HitKey[], client?: Queryable): Promise<HitEvent[]> {
  if (keys.length === 0) return [];
  const values = [keys.map(({ id }) => id), keys.map((key) => key.campaign_no), keys.map(({ seq }) => seq)];
  return asEvents(await query<HitRow>(BY_KEY, [companyId, ...values], client));
}

const OF_MAILS = `
  select ${HIT_AS_EVENT}
  from ${hitsOfMails("unnest($2::int[], $3::int[]) k (campaign_no, seq)", "$1")} ${HIT_LOOKUPS}
  order by h.id limit $4`;

/** Returns the first hits of these emails, in order. */
export const hitsOf = async (companyId: string, mails: readonly MailNumber[], limit: number): Promise<HitEvent[]> =>
  asEvents(
    await query<HitRow>(OF_MAILS, [
      companyId,
      mails.map((mail) => mail.campaign_no),
      mails.map(({ seq }) => seq),
      limit,
    ]),
  );
