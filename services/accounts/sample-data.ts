/**
 * Sample data: people, a list, a template and a finished campaign, to look around with before there is anything of one's
 * own. Written as rows in one transaction, because nothing of it is ever sent; triggers count it as they count all rows,
 * so that reports and lists agree.
 */
import { type Client, query, queryOne, transaction } from "../../models/database/db.ts";
import { HIT_FLAG } from "../../models/hit.ts";
import { SENT_EMAIL_STATUS } from "../../models/sent-email-status.ts";
import { auditWithin } from "../../models/statements/audit-log.ts";
import { companyNo } from "../../models/statements/hits.ts";
import { mailIds } from "../../models/statements/mail-key.ts";
import { SAMPLE_DOMAIN, SAMPLE_PEOPLE, samplePeopleOf } from "../../models/statements/sample-people.ts";
import type { Ctx } from "../lib/caller.ts";
import { newId } from "../lib/ids.ts";
import type { SampleData } from "./contract-account-shapes.ts";
import { ownCompany } from "./permission.ts";

const { machine, first, firstOfLink } = HIT_FLAG;
const { sent, bounced } = SENT_EMAIL_STATUS;

/** Places in SAMPLE_PEOPLE, counted from 1, of people with whom something else than usual happened. */
const REFUSED = 18;
const RETURNED = 40;
const UNSUBSCRIBED = 31;

const SITE = `https://${SAMPLE_DOMAIN}`;
const LINKS = [`${SITE}/spring`, `${SITE}/readings`, `${SITE}/visit`];
const SUBJECT = "[[first_name|default:Hello]], here is our spring letter";
const part = (text: string, link: string, label: string) =>
  `<p>${text}</p>\n<p><a href="${link}" style="color:#0b6b72;font-weight:bold">${label}</a></p>`;
const BODY = `<div style="max-width:560px;margin:0 auto;padding:24px;font:16px/1.5 Georgia,serif;color:#1c2330">
<h1 style="font-size:28px;line-height:1.2">Our spring letter</h1>
<p>Dear [[first_name|default:reader]],</p>
${part("Twelve new books are on the table by the window.", LINKS[0]!, "See the spring list")}
${part("On Friday a keeper reads from the diary of a lighthouse.", LINKS[1]!, "Reserve a seat")}
${part("We are open until eight on Thursdays.", LINKS[2]!, "How to find us")}
</div>`;

/** $1 is the company, $2 the list, $3 the template, $4 the campaign, $5 its number, $6 when it began. */
const CONTENT = `
  with suppression as (
    insert into suppressions (company_id, domain, reason) values ($1, '${SAMPLE_DOMAIN}', 'Sample data')
    on conflict (company_id, domain) where domain is not null do nothing),
  list as (
    insert into lists (id, company_id, name, description)
    values ($2, $1, 'Sample readers', 'Goes with the sample data. They get no email.')),
  template as (
    insert into templates (id, company_id, name, subject, body) values ($3, $1, 'Sample letter', $7, $8)),
  campaign as (
    insert into campaigns (id, company_id, name, campaign_type, status, total_emails, sent_count, failed_count, template_id,
      smtp_config_id, list_id, worker_task_id, next_seq, expanded_at, started_at, finished_at, no, expansion_began_at, created_at)
    select $4::uuid, $1::uuid, 'Sample: spring letter', 'to_list', 'partial', $9::int, $9 - 1, 1, $3::uuid, $4, $2::uuid, $4, $9 + 1,
      $6::timestamptz, $6, $6 + interval '1 minute', $5::int, $6, $6)
  insert into campaign_contents (campaign_id, company_id, subject, body, sender_name, sender_email, list_id_name,
    list_id_ref, company_name, tracking_enabled, links)
  select $4, id, $7, $8, 'Sample', 'letter@${SAMPLE_DOMAIN}', 'Sample readers', $2, name, true, $10 from companies where id = $1`;

const PEOPLE = `
  with person as (
    insert into subscribers as p (company_id, email, first_name, last_name, status)
    select $1, email, first_name, last_name, case n when ${REFUSED} then 'bounced' when ${RETURNED} then 'bounced'
      when ${UNSUBSCRIBED} then 'unsubscribed' else 'active' end
    from unnest($3::text[], $4::text[], $5::text[]) with ordinality g (email, first_name, last_name, n)
    on conflict (company_id, email_key) do nothing returning id)
  insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from person`;

// Opens get rarer with time, until now. Every sixth person also clicked, and every eighth has a machine that opens all.
const MAILS = `
  with mail as (
    select n::int as seq, email, $3::timestamptz + n * interval '1 second' as sent_at,
      case when n % 2 = 1 then $3::timestamptz + (now() - $3) * (power(1.2, n / 2) / power(1.2, 24)) end as opened_at
    from unnest($4::text[]) with ordinality g (email, n)),
  written as (
    insert into sent_emails (campaign_no, seq, subscriber_id, email, status, attempts, error, smtp_response, sent_at,
      opened_at, clicked_at, bounced_at, opens, clicks)
    select $2, m.seq, p.id, case when p.id is null then m.email end, case when m.seq in (${REFUSED}, ${RETURNED}) then ${bounced} else ${sent} end, 1,
      case m.seq when ${REFUSED} then 'The address does not exist.' end,
      case m.seq when ${REFUSED} then '550 5.1.1 User unknown' else '250 2.0.0 Accepted' end,
      case m.seq when ${REFUSED} then null else m.sent_at end, m.opened_at,
      case when m.seq % 6 = 1 then m.opened_at + interval '40 seconds' end,
      case when m.seq in (${REFUSED}, ${RETURNED}) then m.sent_at end,
      case when m.opened_at is not null then 1 end, case when m.seq % 6 = 1 then 1 end
    from mail m left join subscribers p on p.company_id = $1 and p.email_key = m.email
    returning seq, sent_at, opened_at, clicked_at),
  hit as (
    select seq, opened_at as at, 0 as link, ${first} as flags from written where opened_at is not null
    union all
    select seq, clicked_at, 1 + seq / 6 % 3, ${first | firstOfLink} from written where clicked_at is not null
    union all
    select seq, sent_at, 0, ${machine} from written where seq % 8 = 0 and sent_at is not null)
  insert into hits (id, company_no, campaign_no, seq, link, flags, agent)
  select (left(first_hit_id(at)::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid, ${companyNo("$1")}, $2, seq,
    link, flags, 'Sample' from hit`;

const EVENTS = `
  insert into email_events (company_id, campaign_id, sent_email_id, type, recipient, is_first, metadata, created_at)
  select $1, $2, e.id, e.type, e.email, e.is_first, e.metadata, $3::timestamptz + e.after
  from (values
    ($4::uuid, 'bounced', $7, false, '{"bounce_type": "hard", "source": "smtp", "diagnostic": "550 5.1.1 User unknown"}'::jsonb, interval '1 minute'),
    ($5::uuid, 'bounced', $8, true, '{"bounce_type": "hard", "source": "dsn", "diagnostic": "5.1.1 Mailbox closed"}', '5 minutes'),
    ($6::uuid, 'unsubscribed', $9, true, '{}', '10 minutes')) e (id, type, email, is_first, metadata, after)`;

/** Takes out of the company's days what triggers have just counted: statistics are about real people and mail. */
const UNCOUNT_DAYS = `
  insert into company_days as d (company_id, day, slot, sent, bounced, opens, clicks, people_subscribed)
  select $1, company_day($1, at), 0, -sum(sent), -sum(bounced), -sum(opens), -sum(clicks), -sum(people)
  from (
    select now() as at, sent_count as sent, 0 as bounced, 0 as opens, 0 as clicks, 0 as people
    from campaigns where company_id = $1 and id = $2
    union all
    select now(), 0, 0, 0, 0, 1 from list_members m join subscribers p on p.company_id = m.company_id and p.id = m.subscriber_id
    where m.company_id = $1 and m.list_id = $3 and p.status = 'active'
    union all
    select created_at, 0, 1, 0, 0, 0 from email_events where company_id = $1 and campaign_id = $2 and type = 'bounced'
    union all
    select hit_at(id), 0, 0, (link = 0)::int, (link > 0)::int, 0 from hits
    where campaign_no = $4 and company_no = ${companyNo("$1")} and flags & ${first} = ${first}) x
  group by 2
  on conflict (company_id, day, slot) do update set sent = d.sent + excluded.sent, bounced = d.bounced + excluded.bounced,
    opens = d.opens + excluded.opens, clicks = d.clicks + excluded.clicks,
    people_subscribed = d.people_subscribed + excluded.people_subscribed`;

const CLAIM = `
  insert into sample_data (company_id, list_id, template_id, campaign_id) values ($1, $2, $3, $4)
  on conflict (company_id) do nothing returning 1`;

// Hits are stored by month, and a new installation has no month before its first.
const DRAW = `
  select next_campaign_no() as no,
    greatest(now() - interval '26 hours', (select min(month) from hit_parts where detached_at is null)) as began_at`;

async function write(client: Client, companyId: string): Promise<boolean> {
  const [list, template, campaign] = [newId(), newId(), newId()];
  if ((await query(CLAIM, [companyId, list, template, campaign], client)).length === 0) return false;
  const { no, began_at } = (await queryOne<{ no: number; began_at: Date }>(DRAW, [], client))!;
  const all = SAMPLE_PEOPLE.length;
  await query(CONTENT, [companyId, list, template, campaign, no, began_at, SUBJECT, BODY, all, LINKS], client);
  await query("select add_count($1, 'campaigns', $1, 1)", [companyId], client);
  const emails = SAMPLE_PEOPLE.map(({ email }) => email);
  const names = [SAMPLE_PEOPLE.map((person) => person.first), SAMPLE_PEOPLE.map(({ last }) => last)];
  await query(PEOPLE, [companyId, list, emails, ...names], client);
  await query(MAILS, [companyId, no, began_at, emails], client);
  const seqs = [REFUSED, RETURNED, UNSUBSCRIBED];
  const ids = (await mailIds()).of(seqs.map((seq) => ({ campaign_no: no, seq })));
  await query(EVENTS, [companyId, campaign, began_at, ...ids, ...seqs.map((seq) => emails[seq - 1])], client);
  await query(UNCOUNT_DAYS, [companyId, campaign, list, no], client);
  return true;
}

const FOUND = `
  select d.created_at, ${samplePeopleOf("$1")}::int as subscribers,
    (select id from lists where company_id = $1 and id = d.list_id) as list_id,
    (select id from templates where company_id = $1 and id = d.template_id) as template_id,
    (select id from campaigns where company_id = $1 and id = d.campaign_id and deleted_at is null) as campaign_id
  from sample_data d where d.company_id = $1`;

const NONE: SampleData = { created_at: null, subscribers: 0, list_id: null, template_id: null, campaign_id: null };

export async function getSampleData(companyId: string): Promise<SampleData> {
  const found = await queryOne<Omit<SampleData, "created_at"> & { created_at: Date }>(FOUND, [companyId]);
  return found ? { ...found, created_at: found.created_at.toISOString() } : NONE;
}

export async function addSampleData(ctx: Ctx<{ id: string }>): Promise<SampleData> {
  const companyId = ownCompany(ctx);
  await transaction(async (client) => {
    if (await write(client, companyId)) await auditWithin(client, companyId, ctx.meta, { action: "sample_data.added" });
  });
  return getSampleData(companyId);
}

interface Parts {
  list_id: string;
  template_id: string;
  campaign_id: string;
}

const RELEASE = "delete from sample_data where company_id = $1 returning list_id, template_id, campaign_id";

/** $2 is the campaign. Its emails and hits go before it, its counts after the hits that still change them. */
const OF_CAMPAIGN = [
  `delete from hits h using campaigns c where c.company_id = $1 and c.id = $2
     and h.campaign_no = c.no and h.company_no = ${companyNo("$1")}`,
  "delete from sent_emails e using campaigns c where c.company_id = $1 and c.id = $2 and e.campaign_no = c.no",
  "delete from email_events where company_id = $1 and campaign_id = $2",
  "delete from campaign_counts where company_id = $1 and campaign_id = $2",
  `with gone as (delete from campaigns where company_id = $1 and id = $2 returning deleted_at)
   select add_count($1, 'campaigns', $1, -1) from gone where deleted_at is null`,
];

const PEOPLE_GONE = `
  with freed as (delete from suppressions where company_id = $1 and domain = '${SAMPLE_DOMAIN}')
  delete from subscribers where company_id = $1 and email_key = any ($2::text[])`;
const LIST_GONE = `
  delete from lists where company_id = $1 and id = $2
    and not exists (select from list_members where company_id = $1 and list_id = $2)`;
const TEMPLATE_GONE = "delete from templates where company_id = $1 and id = $2 and updated_at = created_at";

/** Removes sample data, but keeps objects that contain real people or work. */
export async function removeSampleData(ctx: Ctx<{ id: string }>): Promise<null> {
  const companyId = ownCompany(ctx);
  return transaction(async (client) => {
    const [parts] = await query<Parts>(RELEASE, [companyId], client);
    if (!parts) return null;
    for (const statement of OF_CAMPAIGN) await query(statement, [companyId, parts.campaign_id], client);
    await query(PEOPLE_GONE, [companyId, SAMPLE_PEOPLE.map(({ email }) => email)], client);
    await query(LIST_GONE, [companyId, parts.list_id], client);
    await query(TEMPLATE_GONE, [companyId, parts.template_id], client);
    await auditWithin(client, companyId, ctx.meta, { action: "sample_data.removed" });
    return null;
  });
}
