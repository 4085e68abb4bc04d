/**
 * Turns one slice of a campaign's audience into rows of sent_emails, in one statement: the next members by keyset,
 * those of them that may get mail, numbered without gaps. Part of the models because it reads the subscribers' tables
 * and writes the senders' in the transaction that moves the campaign's cursor, so that a crash neither loses nor
 * duplicates anybody.
 *
 * Eligible (`is_reached` in `sliceSql`, `reachableStatuses`) are active subscribers who have not left the list.
 * Transactional mail also reaches unsubscribed ones, and an inline receiver who has not confirmed a subscription yet;
 * an address that bounced never gets any. Suppressed addresses are skipped, too. All skipped people are counted
 * (`suppressed_count`) and are not recipients. Receivers named by a request still get a row with the reason; its number
 * is negated, so that it is in no chunk. A recipient suppressed later, up to the moment of sending, becomes
 * `suppressed` (services/smtp-sender/delivery/suppression.ts).
 *
 * A list member that a filter skips still moves the cursor, so that a slice reads a bounded number of rows.
 *
 * The monthly quota may allow only part of the slice. The others are counted, and neither written nor charged.
 */

import type { CampaignType } from "../campaign.ts";
import { campaignNo } from "../database/campaign-no.ts";
import { type Client, prepared, queryOne } from "../database/db.ts";
import { type Rules, segmentSql } from "../segment-rules/segment-sql.ts";
import { SENT_EMAIL_STATUS } from "../sent-email-status.ts";
import type { SubscriberStatus } from "../subscriber.ts";
import { SUPPRESSION_SENTENCES } from "../suppression.ts";
import type { Due } from "./add-chunks.ts";
import {
  BY_INDEX,
  ofList,
  ofListByZone,
  ofReceivers,
  ofSegment,
  ofSegmentByZone,
  type Source,
} from "./audience-source.ts";
import { notSuppressed } from "./not-suppressed.ts";
import { DUE, dueTables, joinDue } from "./recipient-zones.ts";

/** A campaign whose recipients are still being written. */
export interface ExpandingCampaign {
  id: string;
  company_id: string;
  campaign_type: CampaignType;
  smtp_config_id: string;
  list_id: string | null;
  segment_id: string | null;
  is_transactional: boolean;
  expand_cursor: string | null;
  /** Set while the rest of the audience, beyond the monthly quota, is counted. */
  unwritten_cursor: string | null;
  next_seq: number;
  /** Sends to each recipient when the local time of `scheduled_for` is reached there (recipient-zones.ts). */
  timezone: "recipient" | null;
  scheduled_for: Date | null;
  /** Set while a resumed campaign's recipients are put back into the queue. */
  requeue_from: number | null;
  /** The campaign whose recipients without an open are the audience (non-openers.ts). */
  resend_of: string | null;
  /** For an A/B test without a winner: each variant with its current number of recipients. */
  variants: { percent: number; recipients: number }[] | null;
}

export interface Slice {
  /** Members or receivers read; fewer than the limit means that this was the last slice. */
  taken: number;
  /** Rows written. */
  kept: number;
  /** Number of emails of these rows: recipients and their copies. */
  mails: number;
  /** Number of recipients beyond the quota. */
  left: number;
  /** People who may not get this email; none while the rest is only counted. */
  suppressed: number;
  cursor: string | null;
  /** Cursor of the last written row; set only if the quota ended the slice. */
  written_to: string | null;
  /** The rows written by the time at which they may be sent, in the order of their numbers; null: all at once. */
  dues: Due[] | null;
}

const FIRST_UUID = "00000000-0000-0000-0000-000000000000";

/** Inserts rows, without columns that the campaign or subscriber has or that are computed. */
function insertRows({ areNamed }: Source, more: "" | ", variant", from: string): string {
  const [into, values] = areNamed
    ? [", email, cc, bcc, variables", ", own_email, cc, bcc, nullif(variables, '{}')"]
    : ["", ""];
  return `insert into sent_emails (campaign_no, seq, subscriber_id${into}${more})
    select ${campaignNo("$2", "$1")}, $6 - 1 + n, subscriber_id${values}${more} from ${from}`;
}

/**
 * $param: a variant for each position. Positions are assigned in the order of a hash; recipients are numbered by
 * variant.
 */
const assignedBy = (param: number, columns: readonly string[]) => `
  assigned as (
    select f.*, ($${param}::smallint[])[row_number() over (order by md5($2::uuid::text || f.at::text), f.at)] as variant from fitting f
  ),
  placed as (
    select ${columns.map((name) => `d.${name}`).join(", ")}, d.variant, row_number() over (order by d.variant nulls last, d.at) as n from assigned d
  ),`;

const COUNTING_ONLY = -1;
const SENTENCE_OF = (kind: string) =>
  `case ${kind} ${Object.entries(SUPPRESSION_SENTENCES)
    .map(([name, sentence]) => `when '${name}' then '${sentence}'`)
    .join(" ")} end`;

/**
 * Reason why p gets no mail, in the senders' wording. Not recorded after the last recipient within the quota, because a
 * resumed campaign gets there again.
 */
const noteSuppressed = (transactional: boolean) => `
  noted as (
    insert into sent_emails (campaign_no, seq, subscriber_id, email, cc, bcc, variables, status, error)
    select ${campaignNo("$2", "$1")}, -p.at, p.subscriber_id, p.own_email, p.cc, p.bcc, nullif(p.variables, '{}'),
      ${SENT_EMAIL_STATUS.suppressed}, coalesce(${SENTENCE_OF("why.kind")}, ${SENTENCE_OF("p.status")}, '${SUPPRESSION_SENTENCES.manual}')
    from person p,
      lateral (select case when p.email = '' then 'erased' else blocked_by($1, p.email) end as kind) blocked,
      lateral (select case when not (${transactional} and blocked.kind = 'unsubscribed') then blocked.kind end as kind) why
    where $7::bigint > ${COUNTING_ONLY} and not p.is_reached
      and ((select no_room from counted) = 0 or p.at <= (select max(at) from fitting))
    returning 1
  )`;

// Numbers must have no gaps, so they are assigned once it is known who fits; who fits follows the cursor, so that a
// resumed campaign can continue.
const fittingByTime = (clock: string, fits: string) => `${dueTables("$1", clock)},
  fitting as (
    select f.*, row_number() over (order by f.due nulls first, f.at) as n
    from (select k.*, case when ${DUE} > now() then ${DUE} end as due from kept k ${joinDue("k")} where ${fits}) f)`;

const DUES = `(select json_agg(json_build_object('due', d.due, 'count', d.count) order by d.due nulls first)
      from (select due, count(*) from fitting group by due) d)`;

const countSuppressed = `case when $7::bigint <= ${COUNTING_ONLY} then 0
      when (select no_room from counted) = 0 then (select count(*) from person) - (select fit from counted)
      else (select count(*) from person p where p.at <= (select f.at from fitting f order by f.at desc limit 1))
        - (select fit from counted) end`;

/**
 * $7: remaining emails; COUNTING_ONLY when nothing is written any more. `clock`: parameter with the local time, if each
 * recipient is due in their own time zone. `assigned`: number of the parameter with a variant for each position.
 *
 * Rows are copied from one CTE to the next, so they have no unused columns.
 */
export function sliceSql(
  source: Source,
  transactional: boolean,
  { clock, assigned }: { clock?: string | undefined; assigned?: number | undefined } = {},
): string {
  const { taken, person, mails, areNamed } = source;
  const columns = areNamed ? "p.*" : `p.at, p.subscriber_id${clock ? ", p.zone" : ""}`;
  const placed = ["subscriber_id", ...(areNamed ? ["own_email", "cc", "bcc", "variables"] : [])];
  const [mailsSoFar, asMailsSoFar] =
    mails === "1" ? ["place", ""] : ["mails_so_far", `, sum(${mails}) over next as mails_so_far`];
  const fits = `${mailsSoFar} <= $7::bigint`;
  const fitting = `fitting as not materialized (select k.*, k.place as n from kept k where ${fits})`;
  return `
  with taken as materialized (${taken}),
  last as materialized (select t.at from taken t order by t.at desc limit 1),
  person as materialized (
    select ${columns}, (p.status is null or p.status = any($5)) and p.email <> ''
      and ${notSuppressed({ key: "p.email_key", company: "$1", transactional: String(transactional) })} as is_reached
    from (${person}) p
  ),
  kept as materialized (
    select ${columns}, row_number() over next as place${asMailsSoFar} from person p where p.is_reached window next as (order by p.at)
  ),
  counted as materialized (
    select count(*) filter (where ${fits}) as fit, count(*) filter (where not ${fits}) as no_room,
      coalesce(max(${mailsSoFar}) filter (where ${fits}), 0)::integer as mails from kept
  ),
  ${clock ? fittingByTime(clock, fits) : fitting},${assigned ? assignedBy(assigned, placed) : ""}
  added as (
    ${assigned ? insertRows(source, ", variant", "placed") : insertRows(source, "", "fitting")}
  )${areNamed ? `,${noteSuppressed(transactional)}` : ""}
  select (select count(*) from taken) as taken, c.fit as kept, c.mails, c.no_room as left,
    (${areNamed ? "select count(*) from noted" : countSuppressed}) as suppressed,
    (select l.at::text from last l) as cursor,
    case when c.no_room > 0 then (select f.at::text from fitting f order by f.at desc limit 1) end as written_to,
    ${clock ? DUES : "null"} as dues
  from counted c`;
}

/** Statuses of subscribers that such an email is sent to. */
export function reachableStatuses(type: CampaignType, isTransactional: boolean): SubscriberStatus[] {
  if (!isTransactional) return ["active"];
  return type === "to_list" ? ["active", "unsubscribed"] : ["active", "unsubscribed", "unconfirmed"];
}

interface From {
  source: Source;
  /** The cursor before the first row. */
  first: string;
  /** Parameters from $8 on. */
  values: unknown[];
  /** Name of the prepared statement, if one known plan serves all values. */
  name?: string;
}

/** Size limits of one slice of the audience. */
export interface SliceSize {
  /** Members or receivers read. */
  limit: number;
  /** Emails that may be written; undefined while the rest of the audience is only counted. */
  room: number | undefined;
  /** A variant for each position, if there are variants; null for the remainder. */
  assigned?: readonly (number | null)[] | undefined;
}

export async function takeSlice(
  client: Client,
  campaign: ExpandingCampaign,
  size: SliceSize,
  from: From,
): Promise<Slice> {
  const { company_id, id, expand_cursor, unwritten_cursor, is_transactional, next_seq } = campaign;
  const byZone = campaign.timezone === "recipient";
  const values = [
    company_id,
    id,
    unwritten_cursor ?? expand_cursor ?? from.first,
    size.limit,
    reachableStatuses(campaign.campaign_type, is_transactional),
    next_seq,
    size.room ?? COUNTING_ONLY,
    ...from.values,
    ...(byZone ? [campaign.scheduled_for] : []),
  ];
  const clock = byZone ? `$${values.length}` : undefined;
  const assigned = size.assigned && values.push(size.assigned);
  const sql = sliceSql(from.source, is_transactional, { clock, assigned });
  if (!from.name) return (await queryOne<Slice>(sql, values, client))!;
  const kind = is_transactional ? "transactional" : "newsletter";
  return (await prepared<Slice>(`${from.name} ${kind}`, sql, values, client))[0]!;
}

/** The transaction is `BY_KEY` (by-key.ts): a receipt's plan takes six times as long as its one recipient. */
export const takeReceivers = (client: Client, campaign: ExpandingCampaign, size: SliceSize): Promise<Slice> =>
  takeSlice(client, campaign, size, { source: ofReceivers, first: "0", values: [], name: "take receivers" });

/** Undefined if the list or segment no longer exists. */
export async function takeMembers(
  client: Client,
  campaign: ExpandingCampaign,
  size: SliceSize,
): Promise<Slice | undefined> {
  const { company_id, list_id, segment_id, timezone } = campaign;
  const find = <T>(sql: string, id: string | null) => queryOne<T>(sql, [company_id, id], client);
  if (list_id) {
    if (!(await find("select id from lists where company_id = $1 and id = $2", list_id))) return undefined;
    await client.query(BY_INDEX);
    return takeSlice(client, campaign, size, {
      source: timezone ? ofListByZone : ofList,
      first: FIRST_UUID,
      values: [list_id],
    });
  }
  const segment = await find<{ rules: Rules }>(
    "select rules from segments where company_id = $1 and id = $2",
    segment_id,
  );
  if (!segment) return undefined;
  const { where, values } = segmentSql(segment.rules, company_id, 8);
  const source = timezone ? ofSegmentByZone(where) : ofSegment(where);
  return takeSlice(client, campaign, size, { source, first: FIRST_UUID, values });
}
