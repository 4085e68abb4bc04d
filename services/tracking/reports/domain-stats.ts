/**
 * What became of a company's mail by the domain of its recipients: who takes it, and what those say who do not. Counted from
 * the rows when it is asked for. Kept by the day and domain beside them it would cost a write for each mail, for a page that is
 * looked at now and then.
 *
 * Measured (test/bench/domain-stats.ts): 2 to 3 µs of PostgreSQL's CPU for each mail of these days, most of it for the look-up of
 * addresses, which stand with the subscribers alone. Of more than COUNTED_MAILS, which take a quarter of a second, a part is counted;
 * what came back is counted in any case.
 */
import { costlyRead } from "../../../models/database/bulk.ts";
import { type Client, query } from "../../../models/database/db.ts";
import { subscriberAt } from "../../../models/database/row-at.ts";
import { SENT_EMAIL_STATUS } from "../../../models/sent-email-status.ts";
import type { ParamsOf, ReturnsOf } from "../../contracts.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { firstIdAt } from "../../lib/ids.ts";
import { campaignsOf, HAS_FAILED } from "./mails-by-status.ts";

type DomainStats = ReturnsOf<"tracking.domainStats">;

export const MAX_DOMAINS = 100;
export const DEFAULT_DAYS = 30;
const DAY_MS = 86_400_000;
/** Ids carry their time, made on whatever node. */
const CLOCK_SKEW_MS = 60_000;
/** One at a time of a company, on connections of its own (bulk.ts); beyond it 503. */
const STATEMENT_MS = 15_000;

/** Of no more mails all are counted. */
const COUNTED_MAILS = 100_000;
/** Of more so many at least: a domain that has one percent of them is told to within an eighth of itself, 19 times of 20. */
const PART_MAILS = 25_000;
/** A campaign of a few mails that was made longer before these days is not looked for, where not all are counted. */
const AHEAD_MS = 30 * DAY_MS;
/** Mails of one campaign that follow each other: they stand together on disk, and so do their subscribers. */
const RUN = 100;
/** Of each campaign's mails that failed, and of those that wait, where not all are counted. */
const REFUSALS = 1_000;

/** For a million people's addresses in memory; a third of the bulk connections do this at once at most. */
const WORK_MEM = "64MB";

const { queued, sent, failed } = SENT_EMAIL_STATUS;

/** As it goes over the wire, however it is spelled: asked of each domain, not of each mail. */
const CANONICAL = `case when d.domain ~ '^[ -~]*$' then d.domain else split_part(address_key('a@' || d.domain), '@', 2) end`;

/**
 * A refusal that is no bounce stands in the mail's row alone, which has no time of its own: that of one that waits is its next
 * try's at the latest, that of one that failed its campaign's end.
 */
const refusedAt = `array[extract(epoch from case s.status when ${queued} then least(s.next_attempt_at, now())
    else coalesce(c.finished_at, now()) end)::float8, s.campaign_no, s.seq]`;

/**
 * Erased people have no address: they are left out
 * at the end, because PostgreSQL would ask it of each mail, and take its domain out twice.
 */
const mailsOf = (campaign: string) => `
  select split_part(coalesce(lower(s.email collate "C"), p.email_key), '@', 2) as domain,
    count(*) filter (where s.sent_at >= $2) as sent,
    count(*) filter (where s.sent_at >= $2 and s.status = ${sent}) as delivered,
    count(*) filter (where s.sent_at >= $2 and s.opened_at is not null) as opens,
    max(${refusedAt})
      filter (where s.status in (${queued}, ${failed}) and s.smtp_response is not null) as refused
  from campaigns c
  join sent_emails s on s.campaign_no = c.no
  left join subscribers p on p.company_id = $1 and p.id = s.subscriber_id and s.email is null
  where c.company_id = $1 and c.recipients_state = 'kept' and (c.finished_at is null or c.finished_at >= $2)
    and (s.sent_at >= $2 or s.status in (${queued}, ${failed}))${campaign && ` and c.id = ${campaign}`}
  group by 1`;

const eventsOf = (type: "bounced" | "complained", campaign: string) => `
  select recipient, metadata, type, id from email_events
  where company_id = $1 and type = '${type}' and id >= $3 and created_at >= $2${campaign && ` and campaign_id = ${campaign}`}`;

const domainsOf = (campaign: string) => `
  select split_part(lower(e.recipient collate "C"), '@', 2) as domain,
    count(*) filter (where e.metadata->>'bounce_type' = 'hard') as hard,
    count(*) filter (where e.metadata->>'bounce_type' = 'soft') as soft,
    count(*) filter (where e.metadata->>'bounce_type' = 'block') as block,
    count(*) filter (where e.type = 'complained') as complaints,
    max(e.id::text) filter (where e.type = 'bounced' and e.metadata->>'diagnostic' is not null) as bounce
  from (${eventsOf("bounced", campaign)} union all ${eventsOf("complained", campaign)}) e
  group by 1`;

/** Of the campaign c: of those that failed the first, because who was not tried before it was stopped comes behind those who were. */
const someOf = (which: string, order: string) =>
  `select * from sent_emails s where s.campaign_no = c.no and ${which} order by ${order} limit ${REFUSALS}`;

const isChosen = (run: string, no: string) => `(hashint4extended(${run}, ${no}) & ${2 ** 31 - 1}) % $4::int = 0`;

/** The newest campaign that is older than $5: compact ones are numbered from 0 on, as they are made. */
const OLDER = `(select no from campaigns where (company_id, id) < ($1, $5::uuid) and company_id = $1
  order by company_id desc, id desc limit 1)`;
const few = (range: string) =>
  `select no, false as is_large from campaigns where company_id = $1 and ${range} and ${isChosen("1", "no")}`;

/**
 * Those of many mails, which an index has, and of the others each so many-th, chosen by its number alone: there may be a million
 * of one mail each, of which no more is read.
 */
const SOME_CAMPAIGNS = `(
    select no, true as is_large from campaigns where company_id = $1 and total_emails > ${RUN}
    union all ${few(`no > greatest(-1, ${OLDER})`)} union all ${few("no < 0")}) picked
  cross join lateral (select * from campaigns k where k.no = picked.no and (k.total_emails > ${RUN}) = picked.is_large offset 0) c`;

/**
 * Runs of mails, chosen by a hash: of each so many-th one, $4 says, all mails. A campaign of fewer mails is one run. Each mail and
 * its subscriber by its key: whoever expects many would read all there are.
 */
const partOf = (campaign: string) => `
  select split_part(coalesce(lower(s.email collate "C"), p.email_key), '@', 2) as domain,
    count(*) filter (where s.sent_at >= $2) * $4::bigint as sent,
    count(*) filter (where s.sent_at >= $2 and s.status = ${sent}) * $4::bigint as delivered,
    count(*) filter (where s.sent_at >= $2 and s.opened_at is not null) * $4::bigint as opens,
    null::float8[] as refused
  from ${campaign ? "campaigns c" : SOME_CAMPAIGNS}
  cross join generate_series(1, c.next_seq - 1, ${RUN}) run (lo)
  cross join lateral (
    select * from sent_emails m where m.campaign_no = c.no and m.seq between run.lo and run.lo + ${RUN - 1} offset 0) s
  left join lateral (${subscriberAt("$1", "s.subscriber_id", "r.email_key")}) p on s.email is null
  where c.company_id = $1 and c.recipients_state = 'kept' and (c.finished_at is null or c.finished_at >= $2)
    and ${isChosen("run.lo", "c.no")} and s.sent_at >= $2${campaign && ` and c.id = ${campaign}`}
  group by 1
  union all
  select split_part(coalesce(lower(s.email collate "C"), p.email_key), '@', 2), 0, 0, 0, max(${refusedAt})
  from ${campaignsOf("failed")}
  cross join lateral (
    (select * from (${someOf(HAS_FAILED, "s.seq")}) s where s.status = ${failed} and s.smtp_response is not null)
    union all
    (select * from (${someOf("s.next_attempt_at is not null", "s.next_attempt_at desc")}) s
     where s.status = ${queued} and s.smtp_response is not null)) s
  left join lateral (${subscriberAt("$1", "s.subscriber_id", "r.email_key")}) p on s.email is null
  where c.company_id = $1 and c.recipients_state = 'kept' and (c.finished_at is null or c.finished_at >= $2)${campaign && ` and c.id = ${campaign}`}
  group by 1`;

/** Of mails as one of these two counts them; of one campaign where its parameter is named. */
const statement = (mails: (campaign: string) => string, campaign = "") => `
  with d as (
    select domain, sent, delivered, opens, refused, 0 as hard, 0 as soft, 0 as block, 0 as complaints, null as bounce
    from (${mails(campaign)}) m
    union all
    select domain, 0, 0, 0, null, hard, soft, block, complaints, bounce from (${domainsOf(campaign)}) e)
  select ${CANONICAL} as domain, sum(d.sent)::bigint as sent, sum(d.delivered)::bigint as delivered,
    sum(d.hard)::bigint as hard, sum(d.soft)::bigint as soft, sum(d.block)::bigint as block,
    sum(d.complaints)::bigint as complaints, sum(d.opens)::bigint as opens, max(d.refused) as refused, max(d.bounce) as bounce
  from d
  group by 1
  having sum(d.sent + d.hard + d.soft + d.block + d.complaints) > 0 or max(d.refused) is not null
  order by 2 desc, sum(d.hard + d.soft + d.block) desc, 1
  limit ${MAX_DOMAINS + 1}`;

export const DOMAIN_STATS = statement(mailsOf);
const DOMAINS_OF_CAMPAIGN = statement(mailsOf, "$4");
const PART_OF_DOMAINS = statement(partOf);
const PART_OF_CAMPAIGN = statement(partOf, "$5");

const MAILS_OF_DAYS =
  "select coalesce(sum(sent), 0)::bigint as n from company_days where company_id = $1 and day >= ($2::timestamptz at time zone 'UTC')::date";
const MAILS_OF_CAMPAIGN = "select next_seq - 1 as n from campaigns where company_id = $1 and id = $2";

interface Row extends Omit<DomainStats[number], "last_refusal"> {
  /** Seconds since 1970, campaign's number, and the mail's. */
  refused: number[] | null;
  bounce: string | null;
}

const BOUNCE_TEXTS = `
  select id, created_at, metadata->>'diagnostic' as text from email_events
  where company_id = $1 and id = any ($2::uuid[])`;

const ROW_TEXTS = `
  select s.campaign_no, s.seq, reply_text(r.pattern, s.smtp_response) as text
  from unnest($2::int[], $3::int[]) k (campaign_no, seq)
  join campaigns c on c.company_id = $1 and c.no = k.campaign_no
  join sent_emails s on s.campaign_no = k.campaign_no and s.seq = k.seq
  left join reply_patterns r on r.company_id = $1 and r.no = s.reply_no`;

interface BounceText {
  id: string;
  created_at: Date;
  text: string;
}
interface RowText {
  campaign_no: number;
  seq: number;
  text: string;
}

/** By domain: the later of what a bounce and a mail's row say. */
async function lastRefusals(client: Client, companyId: string, rows: readonly Row[]): Promise<Map<string, string>> {
  const bounceIds = rows.flatMap(({ bounce }) => bounce ?? []);
  const keys = rows.flatMap(({ refused }) => (refused ? [refused] : []));
  const bounces = await query<BounceText>(BOUNCE_TEXTS, [companyId, bounceIds], client);
  const numbers = [keys.map(([, campaignNo]) => campaignNo), keys.map(([, , seq]) => seq)];
  const refusals = await query<RowText>(ROW_TEXTS, [companyId, ...numbers], client);
  const found = new Map<string, string>();
  for (const { domain, bounce, refused } of rows) {
    const returned = bounces.find(({ id }) => id === bounce);
    const refusal = refused && refusals.find(({ campaign_no: no, seq }) => no === refused[1] && seq === refused[2]);
    const isLater = refusal && (!returned || refused[0]! * 1_000 > returned.created_at.getTime());
    const text = isLater ? refusal.text : returned?.text;
    if (text) found.set(domain, text);
  }
  return found;
}

/** Of `counted` mails at most every one, else each so many-th. */
async function stepOf(client: Client, companyId: string, campaign: string | undefined, since: Date, counted: number) {
  const [found] = campaign
    ? await query<{ n: number }>(MAILS_OF_CAMPAIGN, [companyId, campaign], client)
    : await query<{ n: number }>(MAILS_OF_DAYS, [companyId, since], client);
  const mails = found?.n ?? 0;
  return mails <= counted ? 1 : Math.max(2, Math.floor(mails / PART_MAILS));
}

export function domainStats(
  ctx: Ctx<ParamsOf<"tracking.domainStats">>,
  { statementMs = STATEMENT_MS, counted = COUNTED_MAILS }: { statementMs?: number; counted?: number } = {},
): Promise<DomainStats> {
  const companyId = companyOf(ctx);
  const { campaign, days = DEFAULT_DAYS } = ctx.params;
  // A campaign's mails count whenever they were sent.
  const since = new Date(campaign === undefined ? Date.now() - days * DAY_MS : CLOCK_SKEW_MS);
  const read = async (client: Client) => {
    await query(`select set_config('work_mem', '${WORK_MEM}', true)`, [], client);
    const step = await stepOf(client, companyId, campaign, since, counted);
    const [all, ofOne] = step === 1 ? [DOMAIN_STATS, DOMAINS_OF_CAMPAIGN] : [PART_OF_DOMAINS, PART_OF_CAMPAIGN];
    const values = [companyId, since, firstIdAt(since.getTime() - CLOCK_SKEW_MS), ...(step === 1 ? [] : [step])];
    const older = step === 1 ? [] : [firstIdAt(Math.max(0, since.getTime() - AHEAD_MS))];
    const found = campaign
      ? await query<Row>(ofOne, [...values, campaign], client)
      : await query<Row>(all, [...values, ...older], client);
    const rows = found.filter(({ domain }) => domain !== "").slice(0, MAX_DOMAINS);
    const last = await lastRefusals(client, companyId, rows);
    return rows.map(({ refused: _, bounce: __, ...row }) => ({
      ...row,
      last_refusal: last.get(row.domain) ?? null,
      ...(step === 1 ? {} : { estimated: true }),
    }));
  };
  return costlyRead(companyId, read, { statementMs });
}
