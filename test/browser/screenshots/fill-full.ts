/** Fills a company with 100,000 people, a year of campaigns, and names of 60 characters and from right to left everywhere. */
import sharp from "sharp";
import { query } from "../../../models/database/db.ts";
import { HIT_FLAG, HIT_VARIANT_SHIFT } from "../../../models/hit.ts";
import { SENT_EMAIL_STATUS } from "../../../models/sent-email-status.ts";
import { companyNo } from "../../../models/statements/hits.ts";
import { AUDIT_ACTIONS } from "../../../services/lib/audit-actions.ts";
import { newId } from "../../../services/lib/ids.ts";
import { fileForm, type TestCompany } from "../../support/client.ts";

const API = "/api/emails";
export const BODY =
  '<h1>Six books for long evenings</h1><p>Hello [[first_name|default:there]]!</p><p><a href="https://example.com/books">All six books</a></p><p><a href="https://example.com/shop">Visit the shop</a></p><p><a href="[[unsubscribe_url]]">Unsubscribe</a></p>';

export const LONG = "Everybody who came to a reading in one of our shops this year";
const RIGHT_TO_LEFT = "كل من حضر أمسية قراءة في أحد متاجرنا خلال هذا العام وما قبله";
const PEOPLE = 100_000;
const VARIANTS = 4;
const { sent, failed, bounced, unknown } = SENT_EMAIL_STATUS;

/** SQL: an id of this time. */
const idAt = (at: string): string =>
  `(left(first_hit_id(${at})::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid`;

/** SQL: a long, a right-to-left or a short name with the row's number. */
const nameOf = (n: string, short: string): string =>
  `(array['${LONG}', '${RIGHT_TO_LEFT}', '${short}'])[1 + (${n}) % 3] || ' ' || (${n})`;

const DOMAINS = [
  "gmail.example",
  "outlook.example",
  "yahoo.example",
  "icloud.example",
  "web.example",
  "bücher.example",
  "mail.example",
  "newsletters.department-of-comparative-literature.university.example",
];
const sqlArray = (texts: readonly string[]) => `array[${texts.map((text) => `'${text}'`).join(", ")}]`;

const LINKS = [
  "https://example.com/books",
  "https://example.com/shop",
  "https://example.com/a-very-long-path/to-a-page/about-the-history-of-printing-in-the-netherlands?utm_source=newsletter&utm_medium=email&utm_campaign=autumn",
  "https://example.com/%D9%83%D8%AA%D8%A8-%D8%AC%D8%AF%D9%8A%D8%AF%D8%A9",
  "https://bücher.example/lesung",
  ...Array.from({ length: 15 }, (_, n) => `https://example.com/books/${n + 1}`),
];

export type FullIds = Record<
  | "fullList"
  | "fullSegment"
  | "fullPerson"
  | "fullReport"
  | "fullLive"
  | "fullDraft"
  | "fullTemplate"
  | "fullServer"
  | "fullWebhook"
  | "fullMedia",
  string
>;

/** Creates something by the company's API and returns its id. */
export const maker =
  (company: TestCompany) =>
  async (path: string, body: object): Promise<string> => {
    const answer = await company.api.post(`${API}${path}`, body);
    if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}: ${answer.text}`);
    return answer.body.id;
  };

async function fillPeople(company: string, list: string): Promise<string> {
  await query(
    `with added as (
       insert into subscribers (company_id, email, first_name, last_name, status, attributes)
       select $1, 'reader' || n || '.' || left(md5(n::text), 20) || '@' || (${sqlArray(DOMAINS)})[1 + n % ${DOMAINS.length}],
         (array['Grace', 'محمد', 'Wolfeschlegelsteinhausenbergerdorff', 'עדה'])[1 + n % 4],
         (array['Hopper', 'العربي', 'Montgomery-Featherstonehaugh', 'לביא'])[1 + n % 4],
         (array['active', 'active', 'active', 'active', 'unsubscribed', 'bounced', 'complained', 'unconfirmed'])[1 + n % 8],
         '{"city": "Lisbon", "favourite_colour": "teal", "orders": 1234567}'
       from generate_series(1, ${PEOPLE}) n returning id)
     insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from added`,
    [company, list],
  );
  const [person] = await query<{ id: string }>(
    "select id from subscribers where company_id = $1 and email like 'reader2.%'",
    [company],
  );
  return person!.id;
}

interface Report {
  company: string;
  list: string;
  server: string;
  template: string;
}

/** A finished campaign to everybody, with four versions, many links, and every kind of result. */
async function fillReport({ company, list, server, template }: Report): Promise<string> {
  const id = newId();
  const [{ no, at }] = (await query<{ no: number; at: Date }>(
    `select next_campaign_no() as no,
       greatest(now() - interval '50 hours', (select min(month) from hit_parts where detached_at is null)) as at`,
  )) as [{ no: number; at: Date }];
  await query(
    `with campaign as (
       insert into campaigns (id, company_id, name, campaign_type, status, total_emails, template_id, smtp_config_id,
         list_id, worker_task_id, next_seq, expanded_at, started_at, finished_at, no, expansion_began_at, created_at)
       select $1::uuid, $2::uuid, $3, 'to_list', 'partial', ${PEOPLE}, $4::uuid, $5::uuid, $6::uuid, $1, ${PEOPLE} + 1, $8::timestamptz, $8,
         $8 + interval '83 minutes', $7::int, $8, $8),
     content as (
       insert into campaign_contents (campaign_id, company_id, subject, body, sender_name, sender_email, list_id_name,
         list_id_ref, company_name, tracking_enabled, links)
       select $1, $2, $9, $10, $9, 'news@lanternbooks.example', $3, $6, name, true, $11 from companies where id = $2)
     insert into campaign_variants (company_id, campaign_id, index, percent, subject, content, recipients)
     select $2, $1, n, 25, (array[$3, $9])[1 + n % 2] || ' ' || n, jsonb_build_object('subject', (array[$3, $9])[1 + n % 2] || ' ' || n), ${PEOPLE / VARIANTS} from generate_series(0, ${VARIANTS - 1}) n`,
    [id, company, LONG, template, server, list, no, at, RIGHT_TO_LEFT, BODY, LINKS],
  );
  await query("select add_count($1, 'campaigns', $1, 1)", [company]);
  await query(
    `insert into sent_emails (campaign_no, seq, subscriber_id, status, attempts, error, smtp_response, sent_at, bounced_at,
       opened_at, clicked_at, opens, clicks, variant)
     select $2, seq, id, status, 1,
       case status when ${failed} then 'The mail server refused the message.' when ${bounced} then 'The address does not exist.'
         when ${unknown} then 'The mail server did not answer.' end,
       case status when ${bounced} then '550 5.1.1 <' || email || '>: Recipient address rejected: User unknown in virtual mailbox table'
         when ${failed} then (array['554 5.7.1 Message rejected as spam by content filtering, see https://postmaster.example/refused/4711 for help',
           '452 4.2.2 The mailbox is full', '421 4.7.0 Try again later'])[1 + seq / 100 % 3] else '250 2.0.0 Accepted' end,
       case when status = ${sent} or seq % 100 = 7 then $3::timestamptz + seq * interval '50 milliseconds' end, case status when ${bounced} then $3::timestamptz end,
       case when status = ${sent} and seq % 3 = 1 then opened end, case when status = ${sent} and seq % 9 = 1 then opened end,
       case when status = ${sent} and seq % 3 = 1 then 1 end, case when status = ${sent} and seq % 9 = 1 then 1 end, seq % ${VARIANTS}
     from (
       select seq, id, email, case when seq % 50 = 7 then ${bounced} when seq % 100 = 13 then ${failed} when seq % 1000 = 17 then ${unknown} else ${sent} end as status,
         $3::timestamptz + (now() - $3) * power(random(), 3) as opened
       from (select row_number() over (order by id)::int as seq, id, email from subscribers where company_id = $1) p) m`,
    [company, no, at],
  );
  await query(
    `update campaigns c set sent_count = k.sent, failed_count = k.failed
     from (select count(sent_at) as sent, count(*) - count(sent_at) as failed from sent_emails where campaign_no = $3) k
     where c.company_id = $1 and c.id = $2`,
    [company, id, no],
  );
  const flags = `${HIT_FLAG.first} + ((variant + 1) << ${HIT_VARIANT_SHIFT})`;
  await query(
    `insert into hits (id, company_no, campaign_no, seq, link, flags, agent)
     select ${idAt("at")}, ${companyNo("$1")}, $2, seq,
       link, flags, 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:128.0) Gecko/20100101 Thunderbird/128.4'
     from (
       select seq, opened_at as at, 0 as link, ${flags} as flags from sent_emails where campaign_no = $2 and opened_at is not null
       union all
       select seq, clicked_at, 1 + floor(power(seq / 9 % 137 / 137.0, 3) * ${LINKS.length})::int, ${flags} + ${HIT_FLAG.firstOfLink} from sent_emails where campaign_no = $2 and clicked_at is not null
       union all
       select seq, sent_at, 0, ${HIT_FLAG.machine} from sent_emails where campaign_no = $2 and seq % 9 = 2 and sent_at is not null) h`,
    [company, no],
  );
  await query(
    `insert into email_events (id, company_id, campaign_id, type, recipient, is_first, variant, metadata, created_at)
     select ${idAt("$4::timestamptz + m.seq * interval '60 milliseconds'")}, $1, $2, k.type, p.email, m.sent_at is not null, m.variant, k.metadata, $4::timestamptz + m.seq * interval '60 milliseconds'
     from sent_emails m join subscribers p on p.company_id = $1 and p.id = m.subscriber_id
       cross join lateral (values
         ('bounced', m.status = ${bounced}, jsonb_build_object('source', case when m.sent_at is null then 'smtp' else 'dsn' end, 'bounce_type', (array['hard', 'hard', 'soft', 'block'])[1 + m.seq / 50 % 4], 'diagnostic', m.smtp_response)),
         ('unsubscribed', m.status = ${sent} and m.seq % 300 = 4, '{}'),
         ('complained', m.status = ${sent} and m.seq % 4000 = 4, '{}')) k (type, happened, metadata)
     where m.campaign_no = $3 and k.happened`,
    [company, id, no, at],
  );
  await query(
    `insert into campaign_counts (company_id, campaign_id, metric, bucket, slot, n)
     select $1, $2, 'sent_of_variant', variant, 0, count(sent_at) from sent_emails where campaign_no = $3 group by variant`,
    [company, id, no],
  );
  return id;
}

/** A year of campaigns, each of which one person got, and what that person did with them. */
async function fillYear({ company, list, server, template }: Report, person: string): Promise<void> {
  const campaigns = await query<{ id: string }>(
    `with campaign as (
       insert into campaigns (id, company_id, name, campaign_type, status, total_emails, sent_count, failed_count, template_id,
         smtp_config_id, list_id, worker_task_id, next_seq, expanded_at, started_at, finished_at, no, expansion_began_at, created_at)
       select k.id, $1, ${nameOf("n", "Letter")}, 'to_list', (array['completed', 'partial', 'failed', 'cancelled'])[1 + n % 9 % 4],
         123456 * (n % 17), 123456 * (n % 17) - n % 5, n % 5, $2, $3, $4, k.id, 2, at, at, at + interval '3 hours', next_campaign_no(), at, at
       from (select n, at, ${idAt("at")} as id from (select n, now() - n * interval '15 hours' - interval '2 days' as at from generate_series(1, 600) n) t) k
       returning id, no, name, created_at),
     content as (
       insert into campaign_contents (campaign_id, company_id, subject, body, sender_name, sender_email, list_id_name,
         list_id_ref, company_name, tracking_enabled)
       select id, $1, name, '', name, 'news@lanternbooks.example', name, $4, name, true from campaign),
     mail as (
       insert into sent_emails (campaign_no, seq, subscriber_id, status, attempts, smtp_response, sent_at)
       select no, 1, $5, ${sent}, 1, '250 2.0.0 Accepted', created_at from campaign)
     select id from campaign`,
    [company, template, server, list, person],
  );
  await query("select add_count($1, 'campaigns', $1, $2)", [company, campaigns.length]);
  await query(
    `insert into campaign_counts (company_id, campaign_id, metric, bucket, slot, n)
     select $1, id, k.metric, 0, 1, sent_count / k.part from campaigns, (values ('opened', 2), ('opened_unique', 3), ('clicked', 20), ('clicked_unique', 25)) k (metric, part)
     where company_id = $1 and id = any ($2::uuid[]) and sent_count > 0`,
    [company, campaigns.map(({ id }) => id)],
  );
  await query(
    `insert into email_events (id, company_id, campaign_id, type, recipient, is_first, metadata, created_at)
     select ${idAt("c.created_at + k.after")}, $1, c.id, k.type, p.email, true, k.metadata, c.created_at + k.after
     from campaigns c join subscribers p on p.company_id = $1 and p.id = $2
       cross join (values ('opened', '{}'::jsonb, interval '1 hour'),
         ('clicked', jsonb_build_object('url', $3::text), interval '2 hours'),
         ('bounced', '{"bounce_type": "soft", "source": "dsn", "diagnostic": "452 4.2.2 The mailbox is full, and a long sentence of the mail server that explains it"}', interval '3 hours')) k (type, metadata, after)
     where c.company_id = $1 and c.total_emails <> ${PEOPLE}`,
    [company, person, LINKS[2]],
  );
  // What triggers have counted as today's.
  await query("delete from company_days where company_id = $1", [company]);
  await query(
    `insert into company_days (company_id, day, slot, sent, returned, bounced, complained, opens, clicks, people_subscribed, people_unsubscribed)
     select $1, current_date - d, 9, 4123 * k, 43 * k, 43 * k, 3 * k, 1601 * k, 312 * k, 912 * k, 123 * k
     from generate_series(0, 800) d, lateral (select 1 + (d * 7919 % 5)) n (k)`,
    [company],
  );
}

/** What is listed in the other sections, some thousand rows each. */
async function fillSections({ company, list, template }: Report, webhook: string): Promise<void> {
  const all = [company];
  await query(
    `insert into templates (id, company_id, name, subject, body)
     select uuid_v7(), $1, ${nameOf("n", "Letter")}, ${nameOf("n + 1", "Subject")}, '<p>Hello</p>' from generate_series(1, 300) n`,
    all,
  );
  await query(
    `insert into template_versions (company_id, template_id, version, content)
     select $1, $2, n, jsonb_build_object('name', ${nameOf("n", "Letter")}, 'subject', ${nameOf("n + 1", "Subject")}, 'body', '<p>Hello</p>')
     from generate_series(2, 45) n`,
    [company, template],
  );
  await query(
    `with added as (
       insert into lists (id, company_id, name, description)
       select uuid_v7(), $1, ${nameOf("n", "Readers")}, ${nameOf("n + 1", "Readers")} from generate_series(1, 120) n returning id)
     insert into list_members (company_id, list_id, subscriber_id)
     select $1, added.id, m.subscriber_id from added, lateral (
       select subscriber_id from list_members where company_id = $1 and list_id = $2 limit 40) m`,
    [company, list],
  );
  await query(
    `insert into segments (id, company_id, name, description, rules)
     select uuid_v7(), $1, ${nameOf("n", "Readers")}, ${nameOf("n + 1", "Readers")},
       '{"match": "any", "conditions": [{"field": "attributes.city", "operator": "equals", "value": "${RIGHT_TO_LEFT}"}, {"field": "soft_bounces", "operator": "lt", "value": 3}]}'
     from generate_series(1, 60) n`,
    all,
  );
  await query(
    `insert into suppressions (company_id, email, kind, reason)
     select $1, 'gone' || n || '@' || (${sqlArray(DOMAINS)})[1 + n % ${DOMAINS.length}],
       (array['manual', 'unsubscribed', 'bounced', 'complained'])[1 + n % 4],
       (array['', '${RIGHT_TO_LEFT}', '550 5.1.1 Recipient address rejected: User unknown in virtual mailbox table'])[1 + n % 3]
     from generate_series(1, 3000) n`,
    all,
  );
  await query(
    `insert into inbound_messages (id, company_id, received_at, via, recipient, result, bounce_type, reason, dialect, diagnostic)
     select ${idAt("now() - n * interval '7 minutes'")}, $1, now() - n * interval '7 minutes', (array['smtp', 'imap', 'api', 'ses'])[1 + n % 4],
       'reader' || n || '.' || left(md5(n::text), 20) || '@' || (${sqlArray(DOMAINS)})[1 + n % ${DOMAINS.length}],
       (array['bounced', 'complained', 'ignored', 'unmatched'])[1 + n % 4], case n % 4 when 0 then 'hard' end, null, null,
       '550 5.1.1 Recipient address rejected: User unknown in virtual mailbox table, ${RIGHT_TO_LEFT}'
     from generate_series(1, 2000) n`,
    all,
  );
  await query(
    `insert into webhook_deliveries (id, company_id, endpoint_id, event_id, event_type, payload, status, attempts, last_error, response_status, next_attempt_at, created_at)
     select ${idAt("now() - n * interval '3 minutes'")}, $1, $2, gen_random_uuid(), (array['bounced', 'complained', 'opened', 'clicked'])[1 + n % 4], '{"email": "reader1@mail.example"}',
       (array['dead', 'succeeded'])[1 + n % 2], 1 + n % 8,
       case n % 2 when 0 then 'Answered 500: <!doctype html><title>' || $3 || '</title> and a stack trace that does not end' end, 204 + n % 2 * 296, null,
       now() - n * interval '3 minutes'
     from generate_series(1, 5000) n`,
    [company, webhook, LONG],
  );
  await query(
    `insert into audit_log (id, company_id, actor_type, actor_name, action, target, ip, detail, at)
     select ${idAt("now() - n * interval '11 minutes'")}, $1, (array['user', 'api_key', 'operator', 'system'])[1 + n % 4],
       (array['wolfeschlegelsteinhausenbergerdorff.montgomery@mail.example', '${RIGHT_TO_LEFT}', 'Ada', 'Flockmail'])[1 + n % 4],
       (${sqlArray(AUDIT_ACTIONS)})[1 + n % ${AUDIT_ACTIONS.length}], null, (array['203.0.113.7', '2001:db8:85a3:8d3:1319:8a2e:370:7348'])[1 + n % 2],
       jsonb_build_object('name', ${nameOf("n", "Letter")}, 'recipients', 1234567, 'list_name', '${RIGHT_TO_LEFT}'), now() - n * interval '11 minutes'
     from generate_series(1, 5000) n`,
    all,
  );
  await query(
    `insert into api_keys (id, company_id, name, prefix, key_hash, scopes, last_used_at)
     select uuid_v7(), $1, ${nameOf("n", "Shop")}, 'fm_' || left(md5(n::text), 6), sha256(gen_random_uuid()::text::bytea),
       (array['{full}', '{send,campaigns,subscribers,read,export}', '{read}'])[1 + n % 3]::text[], case n % 2 when 0 then now() - n * interval '9 hours' end
     from generate_series(1, 15) n`,
    all,
  );
  await query(
    `insert into invitations (id, company_id, email, role, proves_address, expires_at)
     select uuid_v7(), $1, 'wolfeschlegelsteinhausenbergerdorff' || n || '@mail.example', (array['admin', 'member', 'viewer'])[1 + n % 3], true, now() + interval '6 days'
     from generate_series(1, 40) n`,
    all,
  );
}

/** Copies one uploaded image under many names. Returns its id. */
async function fillMedia({ id: company, api }: TestCompany): Promise<string> {
  const picture = await sharp({ create: { width: 900, height: 600, channels: 3, background: "#0b6b72" } })
    .png()
    .toBuffer();
  const form = fileForm(new Uint8Array(picture), `${LONG}.png`, { folder: LONG, alt: RIGHT_TO_LEFT });
  const { id } = (await api.post(`${API}/media/`, form)).body;
  await query(
    `with copy as (
       insert into media (id, company_id, filename, content_type, size, sha256, folder, alt)
       select uuid_v7(), company_id, ${nameOf("n", "sea")} || '.png', content_type, size, sha256 || n::text::bytea,
         (${sqlArray([LONG, RIGHT_TO_LEFT, "Autumn", "Logos", "", "2025", "2026", "Shops"])})[1 + n % 8], case n % 2 when 0 then alt else '' end
       from media, generate_series(1, 300) n where company_id = $1 and id = $2 returning id)
     insert into media_parts (media_id, no, data) select copy.id, no, data from copy, media_parts where media_id = $2`,
    [company, id],
  );
  return id;
}

export async function fillFull(company: TestCompany, port: number): Promise<FullIds> {
  const make = maker(company);
  const server = { host: "127.0.0.1", port, username: "", password: "", use_tls: false };
  const sender = { sender_name: RIGHT_TO_LEFT, sender_email: "news@lanternbooks.example" };
  const fullServer = await make("/smtp-configs/", { name: LONG, ...server, ...sender });
  const smtp_config_id = fullServer;
  const slow = await make("/smtp-configs/", { name: RIGHT_TO_LEFT, ...server, ...sender, max_per_second: 1 });
  for (let n = 0; n < 10; n += 1) await make("/smtp-configs/", { name: `${LONG} ${n}`, ...server, ...sender, port: 9 });
  const fullList = await make("/lists/", { name: LONG, description: RIGHT_TO_LEFT });
  await make("/lists/", { name: RIGHT_TO_LEFT, description: LONG });
  const fullPerson = await fillPeople(company.id, fullList);
  const conditions = [{ field: "attributes.city", operator: "equals", value: "Lisbon" }];
  const rules = { match: "all", conditions };
  const fullSegment = await make("/segments/", { name: LONG, rules });
  await make("/segments/", { name: RIGHT_TO_LEFT, rules });
  const fullTemplate = await make("/templates/", { name: LONG, subject: RIGHT_TO_LEFT, body: BODY });
  const report = { company: company.id, list: fullList, server: fullServer, template: fullTemplate };
  const fullReport = await fillReport(report);
  await fillYear(report, fullPerson);
  let fullDraft = "";
  for (const name of [RIGHT_TO_LEFT, LONG]) {
    const template_id = await make("/templates/", { name, subject: name, body: BODY });
    const scheduled_for = new Date(Date.now() + 86_400_000).toISOString();
    const body = { list_id: fullList, template_id, smtp_config_id };
    await make("/send/to-list/", { name, ...body, scheduled_for });
    for (let n = 0; n < 15; n += 1) fullDraft = await make("/drafts/", { name: `${name} ${n}`, kind: "to-list", body });
  }
  const webhooks: string[] = [];
  for (let n = 0; n < 12; n += 1) {
    const url = `https://shop.example/hooks/${"flockmail/".repeat(12)}${n}`;
    const events = ["delivered", "opened", "clicked", "bounced", "unsubscribed", "complained"].slice(n % 5);
    webhooks.push(await make("/webhook-endpoints/", { url, events }));
  }
  const fullWebhook = webhooks[0]!;
  await fillSections(report, fullWebhook);
  const fullMedia = await fillMedia(company);
  const live = { list_id: fullList, template_id: fullTemplate, smtp_config_id: slow };
  const fullLive = await make("/send/to-list/", { name: RIGHT_TO_LEFT, ...live });
  return {
    fullList,
    fullSegment,
    fullPerson,
    fullReport,
    fullLive,
    fullDraft,
    fullTemplate,
    fullServer,
    fullWebhook,
    fullMedia,
  };
}
