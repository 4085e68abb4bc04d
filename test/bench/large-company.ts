/**
 * Fills a company with a year of data, by SQL: a million people on twelve lists, 300 campaigns with ten million mails,
 * and their events. Ids contain the time at which the rows would have been written.
 */
import { query } from "../../models/database/db.ts";
import { SENT_EMAIL_STATUS } from "../../models/sent-email-status.ts";
import { firstIdAt } from "../../services/lib/ids.ts";

export interface LargeCompany {
  people: number;
  mails: number;
  campaigns: number;
}

const DAY_MS = 24 * 3_600_000;
const LISTS = 12;
/** Batch size, as in an import. */
const BATCH = 20_000;

const FIRST_NAMES =
  "Ada,Grace,Alan,Edsger,Barbara,Ken,Dennis,Margaret,Donald,Frances,John,Radia,Tim,Katherine,Linus,Hedy,Claude,Joan,Niklaus,Jean,Anita,Vint,Sophie,Leslie,Shafi,Tony,Lynn,Robin,Mary,Zoë";
const LAST_NAMES =
  "Lovelace,Hopper,Turing,Dijkstra,Liskov,Thompson,Ritchie,Hamilton,Knuth,Allen,Backus,Perlman,Lee,Johnson,Torvalds,Lamarr,Shannon,Clarke,Wirth,Bartik,Borg,Cerf,Wilson,Lamport,Goldwasser,Hoare,Conway,Milner,Jackson,Šťastný,Engelbart,Kay,Sutherland,Hollerith,Zuse,Babbage,Boole";
const DOMAINS = "example.com,mail.example,example.net,post.example,example.org,inbox.example,acme.example";
const CITIES = "London,Paris,New York,Zürich,Oslo,Roma,Praha,Madrid,Wien,Lisboa,København";

const nth = (texts: string, n: string) =>
  `(string_to_array('${texts}', ','))[1 + (${n})::int % ${texts.split(",").length}]`;

/** A UUIDv7 of the time `at`, in the format of uuid_v7(). */
const idAt = (at: string) => `(lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '7'
  || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid`;

async function inBatches(all: number, work: (from: number, to: number) => Promise<unknown>): Promise<void> {
  for (let from = 1; from <= all; from += BATCH) await work(from, Math.min(all, from + BATCH - 1));
}

/** People by number, for the following statements. */
async function addPeople(company: string, people: number): Promise<void> {
  await query("create unlogged table bench_people (n int primary key, id uuid not null, email text not null)");
  await inBatches(people, (from, to) =>
    query(
      `with made as (
         select n, now() - (${people} - n) * interval '1 year' / ${people} as at,
           ${nth(FIRST_NAMES, "n * 7 + n / 31")} as first_name, ${nth(LAST_NAMES, "n * 11 + n / 17")} as last_name
         from generate_series($2::int, $3::int) n),
       added as (
         insert into subscribers (id, company_id, email, first_name, last_name, status, attributes, created_at)
         select ${idAt("at")}, $1, lower(first_name collate "C") || '.' || n || '@' || ${nth(DOMAINS, "n * 13 + n / 7")},
           first_name, last_name,
           case when n % 20 = 0 then 'unsubscribed' when n % 50 = 1 then 'bounced' when n % 1000 = 2 then 'complained'
             when n % 100 = 3 then 'unconfirmed' else 'active' end,
           jsonb_build_object('city', ${nth(CITIES, "n")}, 'orders', n % 40, 'vip', n % 50 = 0),
           at
         from made returning id, email)
       insert into bench_people select split_part(split_part(email, '@', 1), '.', 2)::int, id, email from added`,
      [company, from, to],
    ),
  );
}

/** The first list has everybody, each further one fewer. */
async function addLists(company: string, people: number): Promise<string> {
  const lists = await query<{ id: string }>(
    `insert into lists (id, company_id, name, description)
     select uuid_v7(), $1, case n when 0 then 'Newsletter' else 'Interest ' || n end, 'Of the bench'
     from generate_series(0, ${LISTS - 1}) n returning id`,
    [company],
  );
  await inBatches(people, (from, to) =>
    query(
      `insert into list_members (company_id, list_id, subscriber_id)
       select $1, l.id, p.id from bench_people p, unnest($4::uuid[]) with ordinality l (id, no)
       where p.n between $2 and $3 and (l.no = 1 or p.n % (3 * (l.no - 1)) = 0)`,
      [company, from, to, lists.map(({ id }) => id)],
    ),
  );
  return lists[0]!.id;
}

const addSuppressions = (company: string) =>
  query(
    `insert into suppressions (company_id, email, kind, reason)
     select company_id, email, status, 'Of the bench' from subscribers
     where company_id = $1 and status in ('unsubscribed', 'bounced', 'complained')`,
    [company],
  );

interface Campaign {
  id: string;
  no: number;
  at: Date;
  /** Number of its first recipient. */
  from: number;
  size: number;
}

async function addCampaign(company: string, list: string, n: number, at: Date, size: number): Promise<number> {
  const bounced = Math.floor(size / 100);
  const [added] = await query<{ no: number }>(
    `insert into campaigns (id, company_id, no, name, campaign_type, status, smtp_config_id, list_id, worker_task_id, total_emails,
       sent_count, failed_count, next_seq, created_at, started_at, finished_at, expanded_at, expansion_began_at)
     values ($1, $2, next_campaign_no(), $3, 'to_list', 'completed', $2, $4, $1, $5, $6, $7, $5 + 1, $8, $8, $8, $8, $8) returning no`,
    [firstIdAt(at.getTime()), company, `Newsletter ${n}`, list, size, size - bounced, bounced, at],
  );
  await query(
    `insert into campaign_contents (campaign_id, company_id, subject, body, sender_name, sender_email, list_id_name, list_id_ref,
       company_name, tracking_enabled, links)
     values ($1, $2, $3, '<p>Hello [[first_name]], <a href="https://example.com/">read on</a>.</p>', 'Acme', 'news@acme.example',
       'Newsletter', $4, 'Acme', true, '{https://example.com/}')`,
    [firstIdAt(at.getTime()), company, `News of week ${n}`, list],
  );
  return added!.no;
}

/** 1 % bounces, 25 % opens, 5 % clicks. */
const addMails = ({ no, at, from, size }: Campaign, people: number) =>
  query(
    `insert into sent_emails (campaign_no, seq, subscriber_id, status, attempts, sent_at, bounced_at, opened_at, opens, clicked_at, clicks,
       error, smtp_response, id, created_at)
     select $1, s, p.id, case when b then ${SENT_EMAIL_STATUS.bounced} else ${SENT_EMAIL_STATUS.sent} end, 1,
       case when not b then $2::timestamptz end, case when b then $2::timestamptz end,
       case when s % 4 = 1 then $2::timestamptz + interval '2 hours' end, case when s % 4 = 1 then 1 end,
       case when s % 20 = 1 then $2::timestamptz + interval '2 hours' end, case when s % 20 = 1 then 1 end,
       case when b then 'The mailbox does not exist.' end, case when b then '550 5.1.1 No such user' end, null, null
     from generate_series(1, $4::int) s join bench_people p on p.n = 1 + ($3::int + s) % $5::int,
       lateral (select s % 100 = 0 as b) x`,
    [no, at, from, size, people],
  );

/**
 * Adds events that match the mails' rows. Their `sent_email_id` is invalid, because ids of mails are computed in Node.
 */
const addEvents = (company: string, { id, at, from, size }: Campaign, people: number) =>
  query(
    `insert into email_events (id, company_id, campaign_id, sent_email_id, type, recipient, link, is_first, is_first_of_link, metadata, created_at)
     select ${idAt("e.at")}, $1, $2, gen_random_uuid(), e.type, p.email, case when e.type = 'clicked' then 1 end, true,
       e.type = 'clicked', e.metadata, e.at
     from generate_series(1, $5::int) s join bench_people p on p.n = 1 + ($4::int + s) % $6::int,
       lateral (
         select 'opened' as type, $3::timestamptz + interval '2 hours' as at, '{"user_agent":"Bench"}'::jsonb as metadata where s % 4 = 1
         union all
         select 'clicked', $3::timestamptz + interval '2 hours', '{"url":"https://example.com/"}' where s % 20 = 1
         union all
         select 'bounced', $3::timestamptz, '{"bounce_type":"hard","source":"smtp"}' where s % 100 = 0
         union all
         select 'unsubscribed', $3::timestamptz + interval '3 hours', '{}' where s % 500 = 3
         union all
         select 'complained', $3::timestamptz + interval '3 hours', '{}' where s % 5000 = 4) e`,
    [company, id, at, from, size, people],
  );

/** Spreads the counts over the year; the triggers counted everything for today. */
async function spreadDays(company: string, { mails, people }: LargeCompany): Promise<void> {
  await query("delete from company_days where company_id = $1", [company]);
  const daily = Math.round(mails / 365);
  await query(
    `insert into company_days (company_id, day, slot, sent, bounced, opens, clicks, people_subscribed, people_unsubscribed)
     select $1, (now() at time zone 'UTC')::date - d, 0, $2::int, $2::int / 100, $2::int / 4, $2::int / 20, $3::int / 365, $3::int / 7300
     from generate_series(0, 364) d`,
    [company, daily, people],
  );
}

/** `company` must exist and be empty. `log` gets a line per step. */
export async function fillCompany(
  company: string,
  { people = 1_000_000, mails = 10_000_000, campaigns = 300 }: Partial<LargeCompany> = {},
  log: (line: string) => void = () => {},
): Promise<void> {
  const timed = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const startedMs = performance.now();
    const result = await work();
    log(`${what}: ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`);
    return result;
  };
  await timed(`${people} people`, () => addPeople(company, people));
  const list = await timed("lists", () => addLists(company, people));
  await timed("suppressions", () => addSuppressions(company));
  const size = Math.min(people, Math.floor(mails / campaigns));
  await timed(`${campaigns} campaigns with ${size} mails each`, async () => {
    for (let n = 0; n < campaigns; n++) {
      const at = new Date(Date.now() - (campaigns - n) * (DAY_MS * (360 / campaigns)));
      const no = await addCampaign(company, list, n + 1, at, size);
      const campaign = { id: firstIdAt(at.getTime()), no, at, from: n * size, size };
      await addMails(campaign, people);
      await addEvents(company, campaign, people);
    }
  });
  await spreadDays(company, { people, mails, campaigns });
  await query("drop table bench_people");
  await timed("vacuum", () => query("vacuum analyze"));
}
