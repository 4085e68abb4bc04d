/** Statements that store opens and clicks. Named, so that each connection plans them once. */
import { subscriberAt } from "../../../models/database/row-at.ts";
import { sameCompany } from "../../../models/database/same-company.ts";
import { HIT_FLAG } from "../../../models/hit.ts";
import { companyNo, sinceCampaign } from "../../../models/statements/hits.ts";
import { outboxInsert } from "../../../models/statements/webhook-outbox.ts";

const { machine } = HIT_FLAG;

// All recent clicks, but only a person's first click per link of the older ones: a message may have thousands.
const EARLIER_CLICKS = `
  with clicked as materialized (
    select e.id, e.link, e.created_at, e.machine from email_events e
    where e.sent_email_id = m.id and ${sameCompany("e.company_id", "c.company_id")} and e.type = 'clicked'
    union all
    select h.id, h.link, hit_at(h.id), h.flags & ${machine} = ${machine} from hits h
    where hit_mail(h.campaign_no, h.seq) = hit_mail(m.campaign_no, m.seq) and h.link > 0 and ${sinceCampaign("h.id", "c")})
  select json_agg(json_build_array(c.id, c.link, extract(epoch from c.created_at) * 1000, c.machine)) from (
    select id, link, created_at, machine from clicked where created_at >= $4
    union all
    select null, link, min(created_at), false from clicked where created_at < $4 and not machine group by link) c`;

/** Milliseconds without fractions. Goes through microseconds, because multiplying by 1,000 is sometimes off by one. */
const msOf = (column: string) => `(date_part('epoch', ${column}) * 1000000)::bigint / 1000`;

/**
 * Reads messages by number ($1 and $2; `n` is their position), and earlier clicks of those clicked now (ids in $3);
 * clicks since $4 are recent. Campaign columns are returned in one row only, because pg parses each value of each row.
 * Materialized, so that campaigns are looked up by message and never messages by campaign.
 */
export const READ = `
  with m as materialized (
    select m.n::int as n, m.id, s.campaign_no, s.seq, s.status, s.variant, s.email is not distinct from '' as erased,
      ${msOf("s.sent_at")} as sent_ms, ${msOf("s.opened_at")} as opened_ms, ${msOf("s.clicked_at")} as clicked_ms
    from unnest($1::int[], $2::int[], $3::uuid[]) with ordinality m (campaign_no, seq, id, n)
    join sent_emails s on s.campaign_no = m.campaign_no and s.seq = m.seq),
  k as materialized (
    select c.no, c.company_id, ${companyNo("c.company_id")} as company_no, c.id as campaign_id, c.individual_tracking, c.deleted_at is not null as is_deleted,
      array(select t.type from webhook_endpoints w, unnest(w.events) t (type)
        where w.company_id = c.company_id and w.disabled_at is null and t.type in ('opened', 'clicked')) as subscribed
    from (select distinct campaign_no from m) d join campaigns c on c.no = d.campaign_no)
  select n, status, variant, erased, sent_ms, opened_ms, clicked_ms,
    case when m.id is not null then (select (${EARLIER_CLICKS}) from campaigns c where c.no = m.campaign_no) end as earlier_clicks,
    case when row_number() over () = 1 then (select json_agg(k) from k) end as campaigns
  from m order by campaign_no, seq`;

/** A separate statement before READ: a statement that waited for a lock would still see the clicks of when it began. */
export const LOCK = `
  select from unnest($1::int[], $2::int[]) m (campaign_no, seq)
  join sent_emails s on s.campaign_no = m.campaign_no and s.seq = m.seq
  order by s.campaign_no, s.seq for update of s`;

/** Array parameters in order, with their types: changes to messages' rows. */
export const CHANGED = {
  campaign_no: "int4",
  seq: "int4",
  opens: "int4",
  clicks: "int4",
  opened_ms: "float8",
  clicked_ms: "float8",
} as const;
/** Rows of hits. */
export const IN_HITS = {
  id: "uuid",
  company_no: "int4",
  campaign_no: "int4",
  seq: "int4",
  link: "int2",
  flags: "int2",
  ip: "text",
  agent: "text",
} as const;
const OF_EVENT = {
  id: "uuid",
  company_id: "uuid",
  campaign_id: "uuid",
  campaign_no: "int4",
  seq: "int4",
  sent_email_id: "uuid",
  link: "int2",
  machine: "bool",
  user_agent: "text",
  ip: "text",
  url: "text",
} as const;
/** Hits that a webhook endpoint subscribed to. */
export const SUBSCRIBED = OF_EVENT;
/** Rows of events. */
export const IN_EVENTS = { ...OF_EVENT, is_first: "bool", is_first_of_link: "bool", at_ms: "float8" } as const;

type Columns = Readonly<Record<string, string>>;

const unnested = (columns: Columns, first: number, alias: string) => {
  const arrays = Object.values(columns).map((type, n) => `$${first + n}::${type}[]`);
  return `unnest(${arrays.join(", ")}) ${alias} (${Object.keys(columns).join(", ")})`;
};

const METADATA = `jsonb_build_object('user_agent', e.user_agent, 'ip', e.ip, 'machine', e.machine)
        || case when e.url is null then '{}' else jsonb_build_object('url', e.url) end`;

const hits = (first: number): string[] => [
  `hit as (
    insert into hits (id, company_no, campaign_no, seq, link, flags, ip, agent)
    select id, company_no, campaign_no, seq, link, flags, nullif(ip, '')::inet, agent from ${unnested(IN_HITS, first, "e")})`,
];

/** Events as sent to webhooks, with the recipient's address. */
const subscribed = (first: number): string[] => [
  `event_of_hit as (
    select e.id, e.company_id, case e.link when 0 then 'opened' else 'clicked' end as type, coalesce(s.email, p.email) as recipient,
      e.sent_email_id, e.campaign_id, ${METADATA} as metadata, hit_at(e.id) as created_at
    from ${unnested(SUBSCRIBED, first, "e")}
    cross join lateral (select email, subscriber_id from sent_emails where campaign_no = e.campaign_no and seq = e.seq limit 1) s
    left join lateral (${subscriberAt("e.company_id", "s.subscriber_id", "r.email")}) p on true)`,
  `queued_of_hit as (${outboxInsert("event_of_hit")})`,
];

// Takes what an event shares with its message from the message's row, which is updated anyway.
const events = (first: number): string[] => [
  `event as (
    insert into email_events (id, company_id, campaign_id, sent_email_id, type, recipient, machine, link, is_first,
      is_first_of_link, metadata, created_at, variant)
    select e.id, e.company_id, e.campaign_id, e.sent_email_id, case e.link when 0 then 'opened' else 'clicked' end,
      coalesce(m.email, p.email), e.machine, nullif(e.link, 0::smallint), e.is_first, e.is_first_of_link, ${METADATA},
      to_timestamp(e.at_ms / 1000), m.variant
    from ${unnested(IN_EVENTS, first, "e")}
    join mail m on m.campaign_no = e.campaign_no and m.seq = e.seq
    left join lateral (${subscriberAt("e.company_id", "m.subscriber_id", "r.email")}) p on true
    returning *)`,
  `queued as (${outboxInsert("event")})`,
];

const write = (parts: readonly string[], queued: readonly string[]) => `
  with mail as (
    update sent_emails s set opens = coalesce(s.opens, 0) + m.opens, clicks = coalesce(s.clicks, 0) + m.clicks,
      opened_at = to_timestamp(m.opened_ms / 1000), clicked_at = to_timestamp(m.clicked_ms / 1000)
    from ${unnested(CHANGED, 1, "m")}
    where s.campaign_no = m.campaign_no and s.seq = m.seq
    returning s.campaign_no, s.seq, s.subscriber_id, s.email, s.variant),
  ${parts.join(",\n  ")}
  ${queued.length === 0 ? "select null::uuid as company_id where false" : queued.map((from) => `select company_id from ${from}`).join(" union ")}`;

const width = (columns: Columns) => Object.keys(columns).length;
const FIRST = width(CHANGED) + 1;
const AFTER_HITS = FIRST + width(IN_HITS);
const AFTER_SUBSCRIBED = AFTER_HITS + width(SUBSCRIBED);

/**
 * Statements by combination of tables. A statement does not name tables it has no rows for, because their triggers
 * would run.
 */
export const WRITE = {
  hits: write(hits(FIRST), []),
  subscribed: write([...hits(FIRST), ...subscribed(AFTER_HITS)], ["queued_of_hit"]),
  events: write(events(FIRST), ["queued"]),
  all: write([...hits(FIRST), ...subscribed(AFTER_HITS), ...events(AFTER_SUBSCRIBED)], ["queued", "queued_of_hit"]),
};

export const MARK_EVENTS = `
  update email_events set machine = true, is_first = false, is_first_of_link = false,
    metadata = metadata || '{"machine": true}'
  where id = any ($1::uuid[]) and company_id = any ($2::uuid[])`;

/**
 * Marks the hits $1 of the messages $3 and $4. Messages are one value, so that the planner does not start with all hits
 * of a company.
 */
export const MARK_HITS = `
  update hits h set flags = h.flags & ~${HIT_FLAG.first | HIT_FLAG.firstOfLink} | ${machine}
  where h.id = any ($1::uuid[]) and hit_mail(h.campaign_no, h.seq) = any (array(
    select hit_mail(m.campaign_no, m.seq) from unnest($3::int[], $4::int[]) m (campaign_no, seq)
    join campaigns c on c.no = m.campaign_no and c.company_id = any ($2::uuid[])))`;
