/** The statements that store opens and clicks. Run by name: each connection plans them once. */
import { subscriberAt } from "../../../models/database/row-at.ts";
import { sameCompany } from "../../../models/database/same-company.ts";
import { HIT_FLAG } from "../../../models/hit.ts";
import { sinceCampaign } from "../../../models/statements/hits.ts";
import { outboxInsert } from "../../../models/statements/webhook-outbox.ts";

const { machine } = HIT_FLAG;

// Recent ones each by itself, of those before only the first by a person on each link: a mail may have thousands.
const EARLIER_CLICKS = `
  with clicked as materialized (
    select e.id, e.link, e.created_at, e.machine from email_events e
    where e.sent_email_id = m.id and ${sameCompany("e.company_id", "c.company_id")} and e.type = 'clicked'
    union all
    select h.id, h.link, hit_at(h.id), h.flags & ${machine} = ${machine} from hits h
    where hit_mail(h.campaign_no, h.seq) = hit_mail(m.campaign_no, m.seq) and h.link > 0 and ${sinceCampaign("h.id", "c")})
  select json_agg(json_build_array(c.id, c.link, extract(epoch from c.created_at) * 1000, c.machine)) from (
    select id, link, created_at, machine from clicked where created_at >= $3
    union all
    select null, link, min(created_at), false from clicked where created_at < $3 and not machine group by link) c`;

/**
 * Mails (by number $4 and $5, with their ids $1) and, of those that were clicked now ($2), the clicks before: recent are
 * those since $3. `version` changes with each hit that is stored, and with whatever else is written to the row. Materialized,
 * so that the campaign is joined to the mails and never its mails to the campaign.
 */
export const READ = `
  with m as materialized (
    select m.id, s.campaign_no, s.seq, s.status, s.sent_at, s.opened_at, s.clicked_at,
      s.variant, s.email is not distinct from '' as erased, s.xmin::text as version
    from unnest($1::uuid[], $4::int[], $5::int[]) m (id, campaign_no, seq)
    join sent_emails s on s.campaign_no = m.campaign_no and s.seq = m.seq)
  select m.*, c.company_id, c.id as campaign_id, c.individual_tracking, c.deleted_at is not null as is_deleted,
    m.campaign_no >= 0 and (select compact_hits_since is not null from installation) as in_hits,
    case when m.id = any ($2::uuid[]) then (${EARLIER_CLICKS}) end as earlier_clicks
  from m join campaigns c on c.no = m.campaign_no
  order by m.campaign_no, m.seq`;

/** Before READ, not within it: a statement that has waited for a lock still sees the clicks of when it began. */
export const LOCK = `
  select from unnest($1::int[], $2::int[]) m (campaign_no, seq)
  join sent_emails s on s.campaign_no = m.campaign_no and s.seq = m.seq
  order by s.campaign_no, s.seq for update of s`;

export const VERSIONS = `
  select s.campaign_no, s.seq, s.xmin::text as version
  from unnest($1::int[], $2::int[]) m (campaign_no, seq)
  join sent_emails s on s.campaign_no = m.campaign_no and s.seq = m.seq`;

/** Types of the columns that a statement gets as arrays, in order: what changes on mails' rows, then rows of hits, rows of events. */
const CHANGED = ["uuid", "uuid", "int", "int", "int", "float8", "float8", "xid", "int", "uuid"];
const IN_HITS = [
  "uuid",
  "uuid",
  "int",
  "uuid",
  "int",
  "int",
  "uuid",
  "int",
  "text",
  "smallint",
  "smallint",
  "text",
  "text",
];
const IN_EVENTS = ["uuid", "uuid", "smallint", "bool", "bool", "bool", "text", "text", "text", "float8"];

const columns = (types: readonly string[], first: number) =>
  `unnest(${types.map((type, n) => `$${first + n}::${type}[]`).join(", ")})`;

const METADATA = `jsonb_build_object('user_agent', e.user_agent, 'ip', e.ip, 'machine', e.machine)
        || case when e.url is null then '{}' else jsonb_build_object('url', e.url) end`;

/** Rows of hits from $first on. Only what an endpoint waits for becomes an event as webhooks get it, with the recipient's address. */
const hits = (first: number): string[] => {
  const rows = `${columns(IN_HITS, first)}
      e (id, company_id, company_no, campaign_id, campaign_no, seq, sent_email_id, agent_no, user_agent, link, flags, ip, url)`;
  return [
    `hit as (
    insert into hits (id, company_no, campaign_no, seq, agent_no, link, flags, ip)
    select id, company_no, campaign_no, seq, agent_no, link, flags, nullif(ip, '')::inet from ${rows})`,
    `heard as materialized (
    select e.*, t.type, e.flags & ${machine} = ${machine} as machine
    from ${rows}, lateral (select case e.link when 0 then 'opened' else 'clicked' end as type) t
    where exists (select from webhook_endpoints w
      where w.company_id = e.company_id and w.disabled_at is null and t.type = any (w.events)))`,
    `event_of_hit as (
    select e.id, e.company_id, e.type, coalesce(s.email, p.email) as recipient, e.sent_email_id, e.campaign_id,
      ${METADATA} as metadata, hit_at(e.id) as created_at
    from heard e
    cross join lateral (select email, subscriber_id from sent_emails where campaign_no = e.campaign_no and seq = e.seq limit 1) s
    left join lateral (${subscriberAt("e.company_id", "s.subscriber_id", "r.email")}) p on true)`,
    `queued_of_hit as (${outboxInsert("event_of_hit")})`,
  ];
};

// What an event and its mail have in common is taken from the mail's row, which is read for its own change anyway.
const events = (first: number): string[] => [
  `event as (
    insert into email_events (id, company_id, campaign_id, sent_email_id, type, recipient, machine, link, is_first,
      is_first_of_link, metadata, created_at, variant)
    select e.id, m.company_id, m.campaign_id, m.id, case when e.link is null then 'opened' else 'clicked' end, coalesce(m.email, p.email),
      e.machine, e.link, e.is_first, e.is_first_of_link, ${METADATA}, to_timestamp(e.at_ms / 1000), m.variant
    from ${columns(IN_EVENTS, first)}
      e (id, sent_email_id, link, machine, is_first, is_first_of_link, user_agent, ip, url, at_ms)
    join mail m on m.id = e.sent_email_id
    left join lateral (${subscriberAt("m.company_id", "m.subscriber_id", "r.email")}) p on true
    returning *)`,
  `queued as (${outboxInsert("event")})`,
];

function write(parts: readonly string[], queued: string): string {
  return `
  with mail as (
    update sent_emails s set opens = coalesce(s.opens, 0) + m.opens, clicks = coalesce(s.clicks, 0) + m.clicks,
      opened_at = to_timestamp(m.opened_ms / 1000), clicked_at = to_timestamp(m.clicked_ms / 1000)
    from ${columns(CHANGED, 1)}
      m (company_id, campaign_id, seq, opens, clicks, opened_ms, clicked_ms, version, campaign_no, id)
    where s.campaign_no = m.campaign_no and s.seq = m.seq and s.xmin = m.version
    returning m.id, m.company_id, m.campaign_id, s.subscriber_id, s.email, s.variant),
  ${parts.join(",\n  ")}
  select distinct company_id from (${queued}) q
  union all
  select null where not unchanged((select count(*) from mail) = cardinality($1::uuid[]))`;
}

const QUEUED = "select company_id from queued";
const QUEUED_OF_HIT = "select company_id from queued_of_hit";
const [FIRST, BEHIND_HITS] = [CHANGED.length + 1, CHANGED.length + IN_HITS.length + 1];

/** By where the rows go; a batch may have both. A statement that has nothing for a table does not name it: its triggers would run. */
export const WRITE = {
  hits: write(hits(FIRST), QUEUED_OF_HIT),
  events: write(events(FIRST), QUEUED),
  both: write([...hits(FIRST), ...events(BEHIND_HITS)], `${QUEUED} union all ${QUEUED_OF_HIT}`),
};

export const MARK_EVENTS = `
  update email_events set machine = true, is_first = false, is_first_of_link = false,
    metadata = metadata || '{"machine": true}'
  where id = any ($1::uuid[]) and company_id = any ($2::uuid[])`;

/** The hits $1 of the mails $3 and $4. The mails as one value: the planner must not begin with all hits of a company. */
export const MARK_HITS = `
  update hits h set flags = h.flags & ~${HIT_FLAG.first | HIT_FLAG.firstOfLink} | ${machine}
  where h.id = any ($1::uuid[]) and hit_mail(h.campaign_no, h.seq) = any (array(
    select hit_mail(m.campaign_no, m.seq) from unnest($3::int[], $4::int[]) m (campaign_no, seq)
    join campaigns c on c.no = m.campaign_no and c.company_id = any ($2::uuid[])))`;
