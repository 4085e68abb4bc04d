/**
 * Measures a company's overview and the cost of its counters.
 *
 *     node test/bench company-stats [people=1000000] [mails=10000000]
 *
 * The mails belong to a hundred campaigns and to receipts, each a campaign of its own; all counter slots of a year are
 * used. Prints the duration of the overview over 30 and 365 days, and of writing people with and without counting.
 */
import { closeDatabase, openDatabase, query, transaction } from "../../models/database/db.ts";
import { migrate } from "../../models/database/migrate.ts";
import { newId } from "../../services/lib/ids.ts";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { companyStats } from "../../services/tracking/reports/company-stats.ts";
import { dataFolder } from "../support/service-process.ts";

const [people = 1_000_000, mails = 10_000_000] = process.argv.slice(2).map(Number);
const RECEIPTS = Math.round(mails / 100);
/** Batch size, as in an import. */
const BATCH = 5_000;

async function timed(what: string, work: () => Promise<unknown>): Promise<void> {
  const startedMs = performance.now();
  await work();
  process.stdout.write(`${what}: ${(performance.now() - startedMs).toFixed(1)} ms\n`);
}

const COUNTING = "'subscribers_counted', 'subscribers_recounted', 'subscribers_uncounted'";
const setCounting = (mode: "enable" | "disable") =>
  query(`do $$ declare t text; begin foreach t in array array[${COUNTING}] loop
    execute format('alter table subscribers ${mode} trigger %I', t); end loop; end $$`);

async function addPeople(company: string): Promise<void> {
  for (let from = 1; from <= people; from += BATCH) {
    await query(
      `insert into subscribers (company_id, email, status)
       select $1, 'somebody-' || n || '@example.com', case when n % 10 = 0 then 'unsubscribed' else 'active' end
       from generate_series($2::int, $3::int) n`,
      [company, from, from + BATCH - 1],
    );
  }
}

const renamePeople = (company: string) =>
  transaction(async (client) => {
    for (let from = 1; from <= people / 10; from += BATCH) {
      await client.query(
        `update subscribers set first_name = 'Ann' where company_id = $1
           and email_key in (select 'somebody-' || n || '@example.com' from generate_series($2::int, $3::int) n)`,
        [company, from, from + BATCH - 1],
      );
    }
  });

const addCampaigns = (company: string, campaigns: number, sent: number) =>
  query(
    `insert into campaigns (company_id, id, name, campaign_type, status, smtp_config_id, worker_task_id, no, total_emails, sent_count)
     select $1, uuid_v7(), 'N', 'to_list', 'completed', $1, $1, next_campaign_no(), $3, $3 from generate_series(1, $2::int)`,
    [company, campaigns, sent],
  );

const folder = dataFolder();
const postgres = await startEmbeddedPostgres(folder.path);
try {
  await migrate(postgres.url);
  openDatabase(postgres.url, 10);
  const [company, other] = [newId(), newId()];
  for (const id of [company, other]) {
    await query("insert into companies (id, name, plan) values ($1, 'Acme', 'unlimited')", [id]);
  }
  await setCounting("disable");
  await timed(`${people} people added, uncounted`, () => addPeople(other));
  await timed("a tenth of them changed, uncounted", () => renamePeople(other));
  await setCounting("enable");
  await timed(`${people} people added, counted`, () => addPeople(company));
  await timed("a tenth of them changed, counted", () => renamePeople(company));
  await timed(`${RECEIPTS} campaigns of a mail each`, () => addCampaigns(company, RECEIPTS, 1));
  await addCampaigns(company, 100, Math.round((mails - RECEIPTS) / 100));
  await query(
    `insert into company_days (company_id, day, slot, sent, opens)
     select $1, (now() at time zone 'UTC')::date - d, slot, 1000, 100
     from generate_series(1, 364) d, generate_series(0, 63) slot on conflict do nothing`,
    [company],
  );
  await query("vacuum analyze");
  for (const days of [30, 365]) {
    for (let run = 1; run <= 3; run++) await timed(`overview of ${days} days`, () => companyStats(company, days));
  }
  process.stdout.write(`${JSON.stringify((await companyStats(company, 1)).subscribers)}\n`);
} finally {
  await closeDatabase();
  await postgres.stop();
  folder.remove();
}
