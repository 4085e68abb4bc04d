/**
 * Measures an idle process.
 *
 *     node test/bench idle [companies=1000] [campaigns=10000] [seconds=60]
 *
 * One process with all services, and PostgreSQL. Measures first without companies, then with that many, each with an
 * SMTP configuration, a list, a webhook endpoint and its share of campaigns scheduled for another year. Prints the time
 * from start to ready, resident memory, and CPU of the process and PostgreSQL in hundredths of a core. Aims with 1,000
 * companies and 10,000 campaigns: 2 s, 120 MB, 0.5 hundredths.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { closeDatabase, openDatabase, query } from "../../models/database/db.ts";
import { migrate } from "../../models/database/migrate.ts";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { dataFolder, startService } from "../support/service-process.ts";
import { cpuUs, ownCpuUs, postmasterOf } from "./cpu.ts";
import { residentMegabytes, serviceProcess } from "./resources.ts";

/** V8 collects garbage of the start within this time. */
const SETTLE_MS = 30_000;
const SECRET_KEY = "bench-secret-bench-secret-bench-secret";
const [companies = 1_000, campaigns = 10_000, seconds = 60] = process.argv.slice(2).map(Number);

async function fill(): Promise<void> {
  await query(
    "insert into companies (id, name, plan) select uuid_v7(), 'Company ' || n, 'unlimited' from generate_series(1, $1::int) n",
    [companies],
  );
  await query(
    `insert into smtp_configs (id, company_id, name, host, port, sender_email)
     select uuid_v7(), id, 'Main', 'smtp.example', 25, 'news@example.com' from companies`,
  );
  await query("insert into lists (id, company_id, name) select uuid_v7(), id, 'Readers' from companies");
  await query(
    `insert into webhook_endpoints (id, company_id, url, events, secret_sealed)
     select uuid_v7(), id, 'https://hooks.example/', '{opened}', '\\x00' from companies`,
  );
  await query(
    `insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, list_id, worker_task_id, scheduled_for)
     select uuid_v7(), c.company_id, 'Later', 'to_list', 'scheduled', c.id, l.id, c.id, now() + interval '1 year'
     from (select id, company_id, row_number() over (order by id) as n from smtp_configs) c
     join lists l on l.company_id = c.company_id
     join generate_series(1, $1::int) k on k % $2 = c.n - 1`,
    [campaigns, companies],
  );
  await query("vacuum analyze");
}

async function look(name: string, databaseUrl: string, postmaster: number): Promise<void> {
  const began = performance.now();
  const service = await startService({ env: { DATABASE_URL: databaseUrl, SECRET_KEY, LOGLEVEL: "error" } });
  try {
    await service.ready();
    const readyMs = performance.now() - began;
    await sleep(SETTLE_MS);
    const pid = serviceProcess(service.child.pid!);
    const before = [ownCpuUs(pid), cpuUs(postmaster), performance.now()] as const;
    await sleep(seconds * 1_000);
    const us = (performance.now() - before[2]) * 1_000;
    const share = (spentUs: number) => ((spentUs * 100) / us).toFixed(2);
    console.log(
      `${name}: ready after ${(readyMs / 1_000).toFixed(1)} s, ${residentMegabytes(pid)} MB, ` +
        `CPU ${share(ownCpuUs(pid) - before[0])}, PostgreSQL ${share(cpuUs(postmaster) - before[1])}`,
    );
  } finally {
    service.child.signal("SIGTERM");
    await service.child.ended;
  }
}

const folder = dataFolder();
const postgres = await startEmbeddedPostgres(folder.path);
try {
  await migrate(postgres.url);
  openDatabase(postgres.url, 5);
  const postmaster = postmasterOf(join(folder.path, "postgres"));
  await look("nobody", postgres.url, postmaster);
  await fill();
  await look(`${companies} companies, ${campaigns} scheduled campaigns`, postgres.url, postmaster);
} finally {
  await closeDatabase();
  await postgres.stop();
  folder.remove();
}
