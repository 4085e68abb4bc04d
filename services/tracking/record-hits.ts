/**
 * Stores a batch of opens and clicks in one transaction: event rows, what they change on the mails' rows, webhook
 * outbox. The campaign's numbers follow by trigger (migration 0006).
 *
 * The mails' rows are locked first, in the order of their key, and everything that is decided is read after that: two
 * nodes that see the same mail at the same moment count one first open between them.
 */
import { type Client, prepared, preparedTransaction } from "../../models/db.ts";
import { outboxInsert } from "../webhooks/outbox.ts";
import { type EarlierClick, type Hit, type Judged, judge, type Mail } from "./judge.ts";
import { linkUrl, loadLinks } from "./links.ts";
import { BURST_MS } from "./machine.ts";

/** `url` is where a click leads; null for a mail or a link that does not exist, of which nothing is stored. */
export interface Stored {
  found: boolean;
  url: string | null;
}

export interface StoredBatch {
  results: Stored[];
  /** Companies with something for their webhooks. */
  companyIds: string[];
}

const LOCK = `
  select id, company_id, campaign_id, seq, email, status, sent_at, opened_at, clicked_at
  from sent_emails where id = any ($1::uuid[])
  order by campaign_id, seq for update`;

// Mail by mail over the index: for a list of ids PostgreSQL may scan the table, or start parallel workers.
const EARLIER_CLICKS = `
  with clicked as materialized (
    select e.sent_email_id, e.id, e.link, e.created_at, e.machine
    from unnest($1::uuid[], $2::uuid[]) as m (id, company_id)
    cross join lateral (
      select * from email_events
      where sent_email_id = m.id and company_id = m.company_id and type = 'clicked') e)
  select * from clicked where created_at >= $3
  union all
  select sent_email_id, null, link, min(created_at), false from clicked where created_at < $3 and not machine
  group by sent_email_id, link`;

// What an event and its mail have in common is taken from the mail's row, which is read for its own change anyway.
const WRITE = `
  with mail as (
    update sent_emails s set opens = s.opens + m.opens, clicks = s.clicks + m.clicks,
      opened_at = to_timestamp(m.opened_ms / 1000), clicked_at = to_timestamp(m.clicked_ms / 1000)
    from unnest($1::uuid[], $2::uuid[], $3::int[], $4::int[], $5::int[], $6::float8[], $7::float8[])
      m (company_id, campaign_id, seq, opens, clicks, opened_ms, clicked_ms)
    where s.company_id = m.company_id and s.campaign_id = m.campaign_id and s.seq = m.seq
    returning s.id, s.company_id, s.campaign_id, s.email),
  event as (
    insert into email_events (id, company_id, campaign_id, sent_email_id, type, recipient, machine, link, is_first,
      is_first_of_link, metadata, created_at)
    select e.id, m.company_id, m.campaign_id, m.id, case when e.link is null then 'opened' else 'clicked' end, m.email,
      e.machine, e.link, e.is_first, e.is_first_of_link,
      jsonb_build_object('user_agent', e.user_agent, 'ip', e.ip, 'machine', e.machine)
        || case when e.url is null then '{}' else jsonb_build_object('url', e.url) end,
      to_timestamp(e.at_ms / 1000)
    from unnest($8::uuid[], $9::uuid[], $10::smallint[], $11::bool[], $12::bool[], $13::bool[], $14::text[],
      $15::text[], $16::text[], $17::float8[])
      e (id, sent_email_id, link, machine, is_first, is_first_of_link, user_agent, ip, url, at_ms)
    join mail m on m.id = e.sent_email_id
    returning *),
  queued as (${outboxInsert("event")})
  select distinct company_id from queued`;

const MARK = `
  update email_events set machine = true, is_first = false, is_first_of_link = false,
    metadata = metadata || '{"machine": true}'
  where id = any ($1::uuid[]) and company_id = any ($2::uuid[])`;

async function earlierClicks(client: Client, hits: readonly Hit[], mails: ReadonlyMap<string, Mail>) {
  const clicks = hits.filter(({ link }) => link > 0);
  if (clicks.length === 0) return [];
  const since = new Date(Math.min(...clicks.map(({ at }) => at.getTime())) - BURST_MS);
  const ids = [...new Set(clicks.map(({ sentEmailId }) => sentEmailId))];
  const companies = ids.map((id) => mails.get(id)!.company_id);
  return prepared<EarlierClick>(client, "earlier clicks", EARLIER_CLICKS, [ids, companies, since]);
}

const ms = (at: Date | null) => at?.getTime() ?? null;

function columnsOf({ events, changes }: Judged): unknown[][] {
  return [
    changes.map((change) => change.company_id),
    changes.map((change) => change.campaign_id),
    changes.map((change) => change.seq),
    changes.map((change) => change.opens),
    changes.map((change) => change.clicks),
    changes.map((change) => ms(change.opened_at)),
    changes.map((change) => ms(change.clicked_at)),
    events.map((event) => event.id),
    events.map((event) => event.sent_email_id),
    events.map((event) => event.link),
    events.map((event) => event.machine),
    events.map((event) => event.is_first),
    events.map((event) => event.is_first_of_link),
    events.map((event) => event.user_agent),
    events.map((event) => event.ip),
    events.map((event) => event.url),
    events.map((event) => ms(event.created_at)),
  ];
}

async function write(client: Client, judged: Judged): Promise<string[]> {
  const { events, marked } = judged;
  if (events.length === 0) return [];
  const rows = await prepared<{ company_id: string }>(client, "write hits", WRITE, columnsOf(judged));
  if (marked.length > 0) {
    await client.query(MARK, [marked, [...new Set(events.map(({ company_id }) => company_id))]]);
  }
  return rows.map(({ company_id }) => company_id);
}

export async function recordHits(hits: readonly Hit[]): Promise<StoredBatch> {
  return preparedTransaction(async (client) => {
    const ids = [...new Set(hits.map(({ sentEmailId }) => sentEmailId))];
    const mails = new Map((await prepared<Mail>(client, "lock mails", LOCK, [ids])).map((mail) => [mail.id, mail]));
    await loadLinks(
      hits.flatMap(({ sentEmailId, link }) => (link > 0 && mails.get(sentEmailId)) || []),
      client,
    );
    const urlOf = ({ sentEmailId, link, url }: Hit) => url ?? linkUrl(mails.get(sentEmailId)!.campaign_id, link);
    const known = (hit: Hit) => mails.has(hit.sentEmailId) && (hit.link === 0 || urlOf(hit) !== undefined);
    const real = hits.filter(known);
    const companyIds = await write(
      client,
      judge(real, mails, await earlierClicks(client, real, mails), (hit) => (hit.link > 0 ? urlOf(hit) : undefined)),
    );
    const results = hits.map((hit) => ({ found: known(hit), url: known(hit) && hit.link > 0 ? urlOf(hit)! : null }));
    return { results, companyIds };
  });
}
