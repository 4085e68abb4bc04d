/**
 * Measures the delivery report by domain.
 *
 *     node test/bench domain-stats [mails=1000000] [receipts=20000] [domains=300]
 *
 * One newsletter to a list of that many people, with 2 % bounces, 1 % deferred and a third opened; the receipts are
 * campaigns of their own; another company has few mails. Prints duration, PostgreSQL's CPU and plan of the service's
 * own statement.
 */
import { join } from "node:path";
import { closeDatabase, openDatabase, query } from "../../models/database/db.ts";
import { migrate } from "../../models/database/migrate.ts";
import { firstIdAt, newId } from "../../services/lib/ids.ts";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { DOMAINS_OF_DAYS } from "../../services/tracking/reports/domain-counts.ts";
import { domainStats } from "../../services/tracking/reports/domain-stats.ts";
import { asOwner } from "../support/sending.ts";
import { dataFolder } from "../support/service-process.ts";
import { cpuUs, postmasterOf } from "./cpu.ts";

const [mails = 1_000_000, receipts = 20_000, domains = 300] = process.argv.slice(2).map(Number);

async function prepare(mails: number, receipts: number): Promise<string> {
  const company = newId();
  await query("insert into companies (id, name, plan) values ($1, 'Acme', 'unlimited')", [company]);
  // Domains with smaller numbers have larger shares, as mailbox providers do.
  await query(
    `insert into subscribers (company_id, email)
     select $1, 'somebody-' || n || '@d' || floor(power(random(), 4) * $3)::int || '.example' from generate_series(1, $2::int) n`,
    [company, mails, domains],
  );
  const campaign = `insert into campaigns (company_id, id, name, campaign_type, status, smtp_config_id, worker_task_id, no,
      total_emails, next_seq, sent_count, expansion_began_at, started_at, finished_at)
    select $1, uuid_v7(), 'N', 'to_list', 'completed', $1, $1, next_campaign_no(), $3, $3 + 1, $3, now(), now(), now()
    from generate_series(1, $2::int) returning no`;
  const [newsletter] = await query<{ no: number; id: string }>(campaign, [company, 1, mails]);
  await query(
    `insert into sent_emails (campaign_no, seq, subscriber_id, status, attempts, sent_at, opened_at, smtp_response, next_attempt_at)
     select $2, row_number() over (order by id), id, case when n % 100 < 2 then 4 when n % 100 < 3 then 0 else 2 end, 1,
       case when n % 100 >= 3 then now() end, case when n % 3 = 0 then now() end,
       case when n % 100 < 3 then '450 4.2.1 Try again later' else '2.0.0 Ok: queued as 4Zk1' end,
       case when n % 100 = 2 then now() end
     from (select id, row_number() over () as n from subscribers where company_id = $1) s`,
    [company, newsletter!.no],
  );
  await query(
    `insert into email_events (company_id, campaign_id, type, recipient, metadata)
     select $1, $3, 'bounced', p.email, '{"bounce_type": "hard", "diagnostic": "550 5.1.1 No such user"}'
     from sent_emails s join subscribers p on p.id = s.subscriber_id where s.campaign_no = $2 and s.status = 4`,
    [company, newsletter!.no, newsletter!.id],
  );
  if (receipts > 0) {
    await query(
      `with made as (${campaign})
       insert into sent_emails (campaign_no, seq, email, status, attempts, sent_at)
       select no, 1, 'buyer-' || no || '@d' || floor(power(random(), 4) * $4)::int || '.example', 2, 1, now() from made`,
      [company, receipts, 1, domains],
    );
  }
  return company;
}

const DAY_MS = 86_400_000;

const folder = dataFolder();
const postgres = await startEmbeddedPostgres(folder.path);
try {
  await migrate(postgres.url);
  Object.assign(process.env, { DATABASE_URL: postgres.url, SECRET_KEY: "bench-secret-bench-secret-bench-secret" });
  openDatabase(postgres.url, 10);
  const postmaster = postmasterOf(join(folder.path, "postgres"));
  const company = await prepare(mails, receipts);
  const neighbour = await prepare(1_000, 20);
  await query("vacuum analyze");
  for (let run = 1; run <= 4; run++) {
    const [startedMs, before] = [performance.now(), cpuUs(postmaster)];
    const rows = await domainStats(asOwner(company, {}));
    const [tookMs, cpuMs] = [performance.now() - startedMs, (cpuUs(postmaster) - before) / 1_000];
    process.stdout.write(`run ${run}: ${tookMs.toFixed()} ms, ${cpuMs.toFixed()} ms of CPU, ${rows.length} domains\n`);
    if (run === 4) process.stdout.write(`${JSON.stringify(rows.slice(0, 3), null, 1)}\n`);
  }
  const startedMs = performance.now();
  await domainStats(asOwner(neighbour, {}));
  process.stdout.write(`a company with 1,000 mails beside it: ${Math.round(performance.now() - startedMs)} ms\n`);
  const [all, old] = [firstIdAt(Date.now() - 30 * DAY_MS), new Date(Date.now() - 60 * DAY_MS)];
  const every = Math.max(1, Math.round((mails + receipts) / 5_000));
  const values = [
    company,
    new Date(Date.now() - 30 * DAY_MS),
    all,
    every,
    Math.max(1, Math.round((mails * 0.02) / 1_000)),
    1,
    old,
  ];
  await query("set max_parallel_workers_per_gather = 0");
  const plan = await query<Record<string, string>>(`explain (analyze, buffers, timing off) ${DOMAINS_OF_DAYS}`, values);
  process.stdout.write(`${plan.map((line) => line["QUERY PLAN"]).join("\n")}\n`);
} finally {
  await closeDatabase();
  await postgres.stop();
  folder.remove();
}
