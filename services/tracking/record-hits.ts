/**
 * Stores a batch of opens and clicks in one transaction: event rows, what they change on the mails' rows, webhook
 * outbox. The campaign's numbers follow by trigger (migration 0006).
 *
 * The mails' rows are locked first, in the order of their key, and everything that is decided is read after that: two
 * nodes that see the same mail at the same moment count one first open between them.
 */
import { type Client, query, transaction } from "../../models/db.ts";
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

const WRITE = `
  with event as (
    insert into email_events (id, company_id, campaign_id, sent_email_id, type, recipient, machine, link, is_first,
      is_first_of_link, metadata, created_at)
    select * from json_to_recordset($1::json) as e (id uuid, company_id uuid, campaign_id uuid, sent_email_id uuid,
      type text, recipient text, machine boolean, link smallint, is_first boolean, is_first_of_link boolean,
      metadata jsonb, created_at timestamptz)
    returning *),
  mail as (
    update sent_emails s set opens = s.opens + m.opens, clicks = s.clicks + m.clicks, opened_at = m.opened_at,
      clicked_at = m.clicked_at
    from json_to_recordset($2::json) as m (company_id uuid, campaign_id uuid, seq integer, opens integer,
      clicks integer, opened_at timestamptz, clicked_at timestamptz)
    where s.company_id = m.company_id and s.campaign_id = m.campaign_id and s.seq = m.seq),
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
  return query<EarlierClick>(EARLIER_CLICKS, [ids, companies, since], client);
}

async function write(client: Client, { events, changes, marked }: Judged): Promise<string[]> {
  if (events.length === 0) return [];
  const rows = await query<{ company_id: string }>(WRITE, [JSON.stringify(events), JSON.stringify(changes)], client);
  if (marked.length > 0) {
    await client.query(MARK, [marked, [...new Set(events.map(({ company_id }) => company_id))]]);
  }
  return rows.map(({ company_id }) => company_id);
}

export async function recordHits(hits: readonly Hit[]): Promise<StoredBatch> {
  return transaction(async (client) => {
    const ids = [...new Set(hits.map(({ sentEmailId }) => sentEmailId))];
    const mails = new Map((await query<Mail>(LOCK, [ids], client)).map((mail) => [mail.id, mail]));
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
