/**
 * Inserts a company that is large in every list of the API, by SQL and without counting triggers, for the plans of
 * reads (test/integration/api/plans.test.ts) and their cost (`node test/bench reading`). Rare rows come last, so that a
 * scan finds them last.
 */
import pg from "pg";
import { query } from "../../models/database/db.ts";
import { SENT_EMAIL_STATUS } from "../../models/sent-email-status.ts";

export interface LargeSize {
  people: number;
  mails: number;
  events: number;
  /** Number of suppressions, webhook deliveries, inbound messages, audit log entries and single-mail campaigns. */
  others: number;
}

/** Ids and texts for reading the created rows. */
export interface Large {
  company: string;
  smtp: string;
  draft: string;
  list: string;
  smallList: string;
  subscriber: string;
  email: string;
  campaign: string;
  oldCampaign: string;
  segment: string;
  template: string;
  endpoint: string;
  delivery: string;
  suppression: string;
  inbound: string;
  imported: string;
  media: string;
  savedBlock: string;
}

/** A minimum; no campaign has more mails than there are people. */
const CAMPAIGNS = 10;
/** Rows per statement; more would exceed the service's statement timeout. */
const BATCH = 100_000;
const DEFERRED = 7;

const { queued, sent, failed, bounced, suppressed, unknown } = SENT_EMAIL_STATUS;

/** SQL for a UUIDv7 at the time `at`; `n` distinguishes ids of one time, and `kind` tables. */
const idAt = (
  at: string,
  n: string,
  kind: number,
) => `(lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0')
  || '7${String(kind).padStart(3, "0")}8000' || lpad(to_hex((${n})::bigint), 12, '0'))::uuid`;
/** SQL for the time of the n-th of `of` rows. */
const timeOf = (n: string, total: number, within = "300 days") =>
  `(now() - interval '${within}' * ((${total} - ${n} + 1)::float8 / ${total + 1}))`;
const nth = (texts: string, n: string) =>
  `(string_to_array('${texts}', ','))[1 + (${n})::int % ${texts.split(",").length}]`;

const FIRST = "Ada,Grace,Alan,Edsger,Barbara,Ken,Dennis,Margaret,Donald,Frances,John,Radia,Tim,Katherine,Hedy,Zoë";
const LAST = "Lovelace,Hopper,Turing,Dijkstra,Liskov,Thompson,Ritchie,Hamilton,Knuth,Allen,Backus,Perlman,Lee";
const DOMAINS = "example.com,mail.example,example.net,post.example,example.org";

/** Runs one statement per BATCH rows, with the batch's first and last number. */
async function inBatches(all: number, work: (from: number, to: number) => Promise<unknown>): Promise<void> {
  for (let from = 1; from <= all; from += BATCH) await work(from, Math.min(all, from + BATCH - 1));
}

/** Tables with counting triggers, besides those that are filled after the others. */
const COUNTED = ["subscribers", "list_members", "suppressions", "campaigns", "email_events", "webhook_deliveries"];
const setTriggers = (mode: "enable" | "disable") =>
  query([...COUNTED, "inbound_messages"].map((table) => `alter table ${table} ${mode} trigger user`).join(";\n"));

const person = (n: string, tag: string) =>
  `lower(${nth(FIRST, `${n} * 7 + ${n} / 31`)} collate "C") || '.${tag}' || ${n} || '@' || ${nth(DOMAINS, `${n} * 13 + ${n} / 7`)}`;

async function addPeople(company: string, tag: string, { people, others }: LargeSize) {
  await query(
    `create unlogged table large_people as
     select n::int, ${timeOf("n", people)} as at, ${idAt(timeOf("n", people), "n", 1)} as id, ${person("n", tag)} as email
     from generate_series(1, ${people}) n`,
  );
  await query("alter table large_people add primary key (n)");
  await inBatches(people, (from, to) =>
    query(
      `insert into subscribers (id, company_id, email, email_key, first_name, last_name, status, attributes, created_at)
       select id, $1, email, email, ${nth(FIRST, "n * 7 + n / 31")}, ${nth(LAST, "n * 11 + n / 17")},
         case when n <= 3 then 'complained' when n % 20 = 0 then 'unsubscribed' when n % 50 = 1 then 'bounced' else 'active' end,
         jsonb_build_object('city', 'Town ' || n % 40, 'orders', n % 40), at
       from large_people where n between $2 and $3`,
      [company, from, to],
    ),
  );
  const [all, few] = await query<{ id: string }>(
    `insert into lists (id, company_id, name) select uuid_v7(), $1, 'List ' || n from generate_series(1, 200) n returning id`,
    [company],
  );
  await inBatches(people, (from, to) =>
    query(
      `insert into list_members (company_id, list_id, subscriber_id)
       select $1, l.id, p.id from large_people p, unnest($2::uuid[]) with ordinality l (id, no)
       where p.n between $3 and $4 and (l.no = 1 or p.n % 3 = 0)`,
      [company, [all!.id, few!.id], from, to],
    ),
  );
  await inBatches(others, (from, to) =>
    query(
      `insert into suppressions (id, company_id, email, email_key, kind, reason, created_at)
       select ${idAt(timeOf("n", others), "n", 2)}, $1, e, e, case when n <= 3 then 'complained' else 'bounced' end, 'x', ${timeOf("n", others)}
       from (select n, ${person("n", `gone${tag}`)} as e from generate_series($2::int, $3::int) n) s`,
      [company, from, to],
    ),
  );
  return { list: all!.id, smallList: few!.id };
}

interface Sent {
  id: string;
  no: number;
  at: Date;
}

const addCampaigns = (
  company: string,
  list: string,
  size: number,
  kind: "to_list" | "custom",
  n: number,
  [from, to]: readonly [number, number] = [1, n],
) =>
  query<Sent>(
    `insert into campaigns (id, company_id, no, name, campaign_type, status, smtp_config_id, list_id, worker_task_id, total_emails,
       sent_count, failed_count, next_seq, is_transactional, created_at, started_at, finished_at, expanded_at, expansion_began_at)
     select ${idAt("at", "n", kind === "custom" ? 4 : 3)}, $1, next_campaign_no(), '${kind} ' || n, '${kind}', 'completed', $1, $2, uuid_v7(),
       ${size}, ${size}, 0, ${size} + 1, ${kind === "custom"}, at, at, at, at, at
     from (select n, ${timeOf("n", n)} as at from generate_series(${from}, ${to}) n) c returning id, no, created_at as at`,
    [company, kind === "to_list" ? list : null],
  );

async function addMails(campaigns: readonly Sent[], size: number, people: number, before = 0): Promise<void> {
  const many = Math.max(1, Math.floor(BATCH / size));
  for (let from = 0; from < campaigns.length; from += many) {
    const batch = campaigns.slice(from, from + many);
    await query(
      `insert into sent_emails (campaign_no, seq, subscriber_id, status, attempts, sent_at, opened_at, opens, clicked_at, clicks)
       select c.no, s, p.id, ${sent}, 1, c.at, case when s % 4 = 1 then c.at end, case when s % 4 = 1 then 1 end,
         case when s % 20 = 1 then c.at end, case when s % 20 = 1 then 1 end
       from unnest($1::int[], $2::timestamptz[]) with ordinality c (no, at, place)
       cross join generate_series(1, ${size}) s
       join large_people p on p.n = 1 + (($3::int + c.place) * ${size > 1 ? 997 : 1} + s) % ${people}`,
      [batch.map(({ no }) => no), batch.map(({ at }) => at), before + from],
    );
  }
}

/** The oldest campaign has the few failed mails, the newest the few waiting ones, the second oldest most bounces. */
async function spoilMails(company: string, campaigns: readonly Sent[], size: number): Promise<void> {
  const [oldest, second] = campaigns;
  const newest = campaigns.at(-1)!;
  await query(
    `update sent_emails set status = case seq when 1 then ${unknown} when 2 then ${failed} else ${suppressed} end, error = 'Why it is so',
       sent_at = null where campaign_no = $1 and seq <= 3`,
    [oldest!.no],
  );
  await query(
    `update sent_emails set status = ${bounced}, error = 'No such mailbox', bounced_at = sent_at, sent_at = null
     where campaign_no = $1 and seq % 5 = 0`,
    [second!.no],
  );
  await query(
    `update sent_emails set status = ${queued}, next_attempt_at = now() + interval '1 hour', error = 'Later', sent_at = null
     where campaign_no = $1 and seq <= ${DEFERRED}`,
    [newest.no],
  );
  const counts = [
    [oldest!.id, 3, 0, "partial"],
    [second!.id, Math.floor(size / 5), 0, "partial"],
    [newest.id, 0, DEFERRED, "sending"],
  ] as const;
  for (const [id, failures, waiting, status] of counts) {
    await query(
      `update campaigns set failed_count = $3, sent_count = total_emails - $3 - $4, status = $5,
         finished_at = case when $4 > 0 then null else finished_at end where company_id = $1 and id = $2`,
      [company, id, failures, waiting, status],
    );
  }
}

async function addEvents(company: string, campaigns: readonly Sent[], { events, people }: LargeSize): Promise<void> {
  await inBatches(events, (from, to) =>
    query(
      `insert into email_events (id, company_id, campaign_id, sent_email_id, type, recipient, link, is_first, metadata, created_at)
       select ${idAt("at", "n", 5)}, $1, ($2::uuid[])[1 + n % ${campaigns.length}], gen_random_uuid(),
         case when n <= 5 then 'complained' when n <= 20 then 'unsubscribed' when n % 50 = 0 then 'bounced' when n % 6 = 0 then 'clicked'
           else 'opened' end, p.email, case when n % 6 = 0 then 1 end, true, '{"user_agent":"Mozilla/5.0"}', at
       from (select n, ${timeOf("n", events)} as at from generate_series($3::int, $4::int) n) e
       join (select n as no, email from large_people) p on p.no = 1 + (n * 7::bigint) % ${people}`,
      [company, campaigns.map(({ id }) => id), from, to],
    ),
  );
}

/** One campaign with all counters of 30 days of opens from many writers, and a year of daily rows. */
async function addCounts(company: string, { id, at }: Sent): Promise<void> {
  await query(
    `insert into campaign_contents (campaign_id, company_id, subject, body, sender_name, sender_email, list_id_name, list_id_ref,
       company_name, tracking_enabled, links)
     select id, $1, 'News', '<p>Hello</p>', 'Acme', 'news@acme.example', 'News', $1, 'Acme', true, '{https://example.com/}'
     from campaigns where company_id = $1 and not exists (select from campaign_contents k where k.campaign_id = campaigns.id)`,
    [company],
  );
  await query(
    `insert into campaign_counts (company_id, campaign_id, metric, bucket, slot, n)
     select $1, $2, m, h + (extract(epoch from $3::timestamptz) / 3600)::int, s, 3
     from unnest('{opened_by_hour,clicked_by_hour}'::text[]) m, generate_series(0, 719) h, generate_series(0, 7) s`,
    [company, id, at],
  );
  await query(
    `insert into company_days (company_id, day, slot, sent, opens)
     select $1, (now() at time zone 'UTC')::date - d, s, 1000, 100 from generate_series(1, 364) d, generate_series(0, 31) s`,
    [company],
  );
}

async function addOthers(company: string, people: number, others: number) {
  // Recent enough that background clean-up keeps them.
  const rows = `(select n, ${timeOf("n", others, "1 day")} as at from generate_series($2::int, $3::int) n) o`;
  const recipient = `(select email from large_people p where p.n = 1 + o.n * 3 % ${people})`;
  const [endpoint] = await query<{ id: string }>(
    `insert into webhook_endpoints (id, company_id, url, events, secret_sealed) values (uuid_v7(), $1, 'http://127.0.0.1:9/', '{opened}', '')
     returning id`,
    [company],
  );
  await inBatches(others, async (from, to) => {
    await query(
      `insert into webhook_deliveries (id, company_id, endpoint_id, event_id, event_type, payload, status, attempts, response_status,
         next_attempt_at, created_at)
       select ${idAt("at", "n", 6)}, $1, $4, ${idAt("at", "n", 5)}, case when n <= 9 then 'complained' else 'delivered' end, '{"type":"x"}',
         case when n <= 4 then 'dead' when n <= 8 then 'pending' else 'succeeded' end, 1, 200,
         case when n between 5 and 8 then now() + interval '1 day' end, at
       from ${rows}`,
      [company, from, to, endpoint!.id],
    );
    await query(
      `insert into inbound_messages (id, company_id, received_at, via, recipient, result, bounce_type)
       select ${idAt("at", "n", 7)}, $1, at, case when n <= 6 then 'brevo' else 'smtp' end, ${recipient},
         case when n <= 4 then 'complained' else 'bounced' end, 'hard' from ${rows}`,
      [company, from, to],
    );
    await query(
      `insert into audit_log (id, company_id, actor_type, actor_id, actor_name, action, target, ip, at)
       select ${idAt("at", "n", 8)}, $1, case when n <= 5 then 'user' else 'api_key' end, case when n <= 5 then ${idAt("at", "n", 9)} else $1 end,
         case when n <= 5 then 'ann@example.com' else 'Shop' end, case when n <= 5 then 'auth.login' else 'campaign.sent' end, null, '192.0.2.1', at
       from ${rows}`,
      [company, from, to],
    );
  });
  return endpoint!.id;
}

/** Rows of which a company has some hundreds. */
async function addFew(company: string): Promise<void> {
  const some = "generate_series(1, 300) n";
  await query(
    `insert into templates (id, company_id, name, subject, body) select uuid_v7(), $1, 'Template ' || n, 'Hello', '<p>Hello</p>' from ${some}`,
    [company],
  );
  await query(
    `insert into segments (id, company_id, name, rules) select uuid_v7(), $1, 'Segment ' || n,
       '{"match":"all","conditions":[{"field":"attributes.city","operator":"equals","value":"Town 7"}]}' from ${some}`,
    [company],
  );
  await query(
    `insert into saved_blocks (id, company_id, name, blocks) select uuid_v7(), $1, 'Block ' || n, '[{"type":"divider"}]' from ${some}`,
    [company],
  );
  await query(
    `insert into media (id, company_id, filename, content_type, size, sha256) select uuid_v7(), $1, n || '.png', 'image/png', 10, '' from ${some}`,
    [company],
  );
  await query(
    `insert into drafts (id, company_id, name, kind) select uuid_v7(), $1, 'Draft ' || n, 'to-list' from ${some}`,
    [company],
  );
  await query(
    `insert into imports (id, company_id, status, form, report) select uuid_v7(), $1, 'done', '{"filename":"a.csv"}', '{"total":1}' from ${some}`,
    [company],
  );
}

async function addServer(company: string): Promise<string> {
  const [made] = await query<{ id: string }>(
    `insert into smtp_configs (id, company_id, name, host, port, sender_email)
     values (uuid_v7(), $1, 'Relay', 'localhost', 25, 'news@example.com') returning id`,
    [company],
  );
  return made!.id;
}

const COUNTERS: [name: string, ref: string, from: string][] = [
  ["'subscribers'", "company_id", "subscribers"],
  ["'subscribers:' || status", "company_id", "subscribers"],
  ["'list_members'", "list_id", "list_members"],
  ["'suppressions'", "company_id", "suppressions"],
  ["'campaigns'", "company_id", "campaigns"],
  ["'campaigns:' || status", "company_id", "campaigns"],
  ["'events'", "company_id", "email_events"],
  ["'events:' || type", "company_id", "email_events"],
  ["'webhook_deliveries'", "endpoint_id", "webhook_deliveries"],
  ["'inbound_messages'", "company_id", "inbound_messages"],
];

const MAILS: [name: string, column: string][] = [
  ["mails", "next_seq - 1"],
  ["mails:sent", "sent_count"],
];

async function count(company: string): Promise<void> {
  await query("delete from counters where company_id = $1 and name <> 'webhook_endpoints'", [company]);
  for (const [name, ref, table] of COUNTERS) {
    await query(
      `insert into counters (company_id, name, ref, slot, n) select $1, ${name}, ${ref}, 0, count(*) from ${table} where company_id = $1 group by 2, 3`,
      [company],
    );
  }
  for (const [name, column] of MAILS) {
    await query(
      `insert into counters (company_id, name, ref, slot, n) select $1, $2, $1, 0, sum(${column}) from campaigns where company_id = $1`,
      [company, name],
    );
  }
}

const newest = async (table: string, company: string, further = "") =>
  (
    await query<{ id: string }>(`select id from ${table} where company_id = $1 ${further} order by id desc limit 1`, [
      company,
    ])
  )[0]!.id;

/** `company` must exist and have no such rows yet. */
export async function makeLarge(company: string, tag: string, size: LargeSize): Promise<Large> {
  const { people, mails, others } = size;
  await setTriggers("disable");
  const lists = await addPeople(company, tag, size);
  const number = Math.max(CAMPAIGNS, Math.ceil(mails / people));
  const perCampaign = Math.floor(mails / number);
  const campaigns = await addCampaigns(company, lists.list, perCampaign, "to_list", number);
  await addMails(campaigns, perCampaign, people);
  await spoilMails(company, campaigns, perCampaign);
  await inBatches(others, async (from, to) =>
    addMails(await addCampaigns(company, lists.list, 1, "custom", others, [from, to]), 1, people, from - 1),
  );
  await addEvents(company, campaigns, size);
  await addCounts(company, campaigns[0]!);
  const endpoint = await addOthers(company, people, others);
  await addFew(company);
  await count(company);
  const [one] = await query<{ id: string; email: string }>(
    `select id, email from large_people where n = ${Math.floor(people / 2)}`,
  );
  await query("drop table large_people");
  await setTriggers("enable");
  const made = {
    ...lists,
    company,
    smtp: await addServer(company),
    draft: await newest("drafts", company),
    subscriber: one!.id,
    email: one!.email,
    campaign: campaigns[1]!.id,
    oldCampaign: campaigns[0]!.id,
    endpoint,
    segment: await newest("segments", company),
    template: await newest("templates", company),
    delivery: await newest("webhook_deliveries", company),
    suppression: await newest("suppressions", company),
    inbound: await newest("inbound_messages", company),
    imported: await newest("imports", company),
    media: await newest("media", company),
    savedBlock: await newest("saved_blocks", company),
  };
  await query(
    `insert into audit_log (id, company_id, actor_type, actor_name, action, detail)
     values (uuid_v7(), $1, 'system', 'large', 'company.updated', $2::jsonb || jsonb_build_object('people', $3::int))`,
    [company, JSON.stringify(made), people],
  );
  return made;
}

/** Vacuums and analyses like autovacuum. With 50 million rows this exceeds the service's own timeouts. */
export async function settle(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("vacuum analyze");
  } finally {
    await client.end();
  }
}

/** The largest company from an earlier run. */
export async function findLarge(): Promise<Large | undefined> {
  const [found] = await query<{ detail: Large }>(
    "select detail from audit_log where action = 'company.updated' and actor_name = 'large' order by (detail->>'people')::int desc limit 1",
  );
  return found?.detail;
}
