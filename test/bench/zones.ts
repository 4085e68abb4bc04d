/**
 * Measures writing the recipients of a campaign that is sent by time zone.
 *
 *     node test/bench zones [people=1000000] [zones=24]
 *
 * The service's own slices expand the same list three times: for all at once, by time zone, and at once again, because
 * the tables grow. Prints seconds, statements, PostgreSQL's CPU, chunks and this process's memory for each, the
 * duration of the query for the first hour, and of all hourly releases in order.
 */
import { join } from "node:path";
import type { ServiceBroker } from "moleculer";
import { closeDatabase, openDatabase, query, queryOne, transaction } from "../../models/database/db.ts";
import { migrate } from "../../models/database/migrate.ts";
import { firstInstant } from "../../models/statements/recipient-zones.ts";
import { expandSlice } from "../../services/campaigns/expansion/expand.ts";
import { releaseDueChunks } from "../../services/campaigns/expansion/release-due-chunks.ts";
import { newId } from "../../services/lib/ids.ts";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { dataFolder } from "../support/service-process.ts";
import { cpuUs, postmasterOf } from "./cpu.ts";

const [people = 1_000_000, zones = 24] = process.argv.slice(2).map(Number);
/** Rows per import. */
const PART = 50_000;
const [company, list] = [newId(), newId()];
const scheduledFor = new Date(Date.now() + 86_400_000);
const broker = { emit: async () => {}, logger: { info: () => {} } } as unknown as ServiceBroker;

async function prepare(): Promise<void> {
  await query("insert into companies (id, name, plan) values ($1, 'Acme', 'unlimited')", [company]);
  await query("insert into lists (id, company_id, name) values ($1, $2, 'All')", [list, company]);
  // Etc/GMT+12 to Etc/GMT-14 are whole hours.
  for (let from = 1; from <= people; from += PART) {
    await query(
      `with person as (
         insert into subscribers (company_id, email, attributes)
         select $1, 'somebody-' || n || '@example.com',
           jsonb_build_object('timezone', 'Etc/GMT' || case when n % $5 < 13 then '+' || n % $5 else '-' || n % $5 - 12 end)
         from generate_series($3::int, $4::int) n returning id)
       insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from person`,
      [company, list, from, Math.min(from + PART - 1, people), zones],
    );
  }
  await query("vacuum analyze");
}

async function newCampaign(byZone: boolean): Promise<string> {
  const id = newId();
  await query(
    `insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, list_id, worker_task_id, scheduled_for, timezone)
     values ($1, $2, 'N', 'to_list', 'pending', $2, $3, $2, $4, $5)`,
    [id, company, list, scheduledFor, byZone ? "recipient" : null],
  );
  return id;
}

const statements = async () =>
  (await queryOne<{ n: number }>(
    "select sum(calls)::int as n from pg_stat_statements where query not like '%pg_stat_statements%'",
  ))!.n;

const print = (name: string, text: string) => process.stdout.write(`${name.padEnd(24)} ${text}\n`);
const inSeconds = (since: number) => ((performance.now() - since) / 1_000).toFixed(1);

async function expand(name: string, byZone: boolean, postmaster: number): Promise<void> {
  const id = await newCampaign(byZone);
  const before = { cpu: cpuUs(postmaster), statements: await statements(), at: performance.now() };
  let most = 0;
  do most = Math.max(most, process.memoryUsage.rss());
  while ((await expandSlice(broker, id)) === "more");
  const took = inSeconds(before.at);
  const cpu = (cpuUs(postmaster) - before.cpu) / 1e6;
  const { n } = (await queryOne<{ n: number }>("select count(*)::int as n from send_chunks where campaign_id = $1", [
    id,
  ]))!;
  const made = (await statements()) - before.statements;
  print(
    name,
    `${took} s, ${made} statements, ${cpu.toFixed(1)} s of PostgreSQL's CPU, ${n} chunks, at most ${Math.round(most / 2 ** 20)} MB`,
  );
  if (byZone) await release(id);
}

async function release(campaign: string): Promise<void> {
  let slowest = 0;
  let released = 0;
  let hours = 0;
  for (; released < people; hours++) {
    // Lets an hour pass.
    await query(
      `update send_chunks set due_at = due_at - (select min(due_at) from send_chunks where campaign_id = $1 and state = 3) + now()
       where campaign_id = $1 and state = 3`,
      [campaign],
    );
    const at = performance.now();
    for (const { recipients } of await releaseDueChunks()) released += recipients;
    slowest = Math.max(slowest, performance.now() - at);
  }
  print("releases", `${hours}, the slowest ${slowest.toFixed(0)} ms`);
}

const folder = dataFolder();
const postgres = await startEmbeddedPostgres(folder.path, {
  shared_preload_libraries: "pg_stat_statements",
  max_wal_size: "4GB",
});
try {
  await migrate(postgres.url);
  openDatabase(postgres.url, 4);
  await query("create extension pg_stat_statements");
  await prepare();
  const postmaster = postmasterOf(join(folder.path, "postgres"));
  const at = performance.now();
  const campaign = { id: newId(), company_id: company, list_id: list, segment_id: null, scheduled_for: scheduledFor };
  await transaction((client) => firstInstant(client, campaign, ["active"]));
  print("look for the first hour", `${inSeconds(at)} s`);
  await expand("at once", false, postmaster);
  await expand(`in ${zones} timezones`, true, postmaster);
  await expand("at once again", false, postmaster);
} finally {
  await closeDatabase();
  await postgres.stop();
  folder.remove();
}
