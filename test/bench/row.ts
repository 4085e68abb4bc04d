/**
 * Measures the cost of a mail's row.
 *
 *     node test/bench row [recipients=100000] [full_page_writes=1]
 *
 * Expands a list by the service's own slices and records each result by the sender's own statement, 200 at a time
 * (MAX_IN_DOUBT), with a reply in the style of Postfix; nothing is sent. Prints bytes on disk per recorded mail, by
 * table and index, bytes of WAL, CPU of PostgreSQL for both steps, and the share of HOT updates. Starts with a
 * checkpoint, so that full-page images are counted. Then each mail is opened, clicked, opened again, and opened with a
 * webhook, with the same figures per hit.
 */
import { join } from "node:path";
import type { ServiceBroker } from "moleculer";
import { closeDatabase, openDatabase, query, queryOne } from "../../models/database/db.ts";
import { migrate } from "../../models/database/migrate.ts";
import { withIds } from "../../models/statements/mail-key.ts";
import { expandSlice } from "../../services/campaigns/expansion/expand.ts";
import { newId } from "../../services/lib/ids.ts";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import type { LeasedChunk, RecordedResult } from "../../services/smtp-sender/delivery/recorded-result.ts";
import { Recorder } from "../../services/smtp-sender/delivery/recorder.ts";
import { PinnedConnection } from "../../services/smtp-sender/engine/pinned-connection.ts";
import { dataFolder } from "../support/service-process.ts";
import { cpuUs, postmasterOf } from "./cpu.ts";
import { addLinks, addWebhook, hitEach } from "./row-hits.ts";
import { grown, type Size, sizesNow } from "./sizes.ts";

const [recipients = 100_000, fullPageWrites = 1] = process.argv.slice(2).map(Number);
const GROUP = 200;
const OWNER = "bench:1";

async function prepare(): Promise<{ company: string; campaign: string }> {
  const [company, list, campaign] = [newId(), newId(), newId()];
  await query("insert into companies (id, name, plan) values ($1, 'Acme', 'unlimited')", [company]);
  await query("insert into lists (id, company_id, name) values ($1, $2, 'All')", [list, company]);
  await query(
    `with person as (
       insert into subscribers (company_id, email) select $1, 'somebody-' || n || '@example.com' from generate_series(1, $3::int) n
       returning id)
     insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from person`,
    [company, list, recipients],
  );
  await query(
    `insert into campaigns (id, company_id, name, campaign_type, status, smtp_config_id, list_id, worker_task_id)
     values ($1, $2, 'N', 'to_list', 'pending', $1, $3, $1)`,
    [campaign, company, list],
  );
  await addLinks(company, campaign);
  await query("vacuum analyze");
  return { company, campaign };
}

interface Use {
  wal: number;
  images: number;
  cpuUs: number;
  seconds: number;
}

async function measured(postmaster: number, work: () => Promise<void>): Promise<Use> {
  const look = async () => {
    await query("select pg_stat_force_next_flush()").catch(() => {});
    const { lsn } = (await queryOne<{ lsn: number }>("select (pg_current_wal_insert_lsn() - '0/0')::float8 as lsn"))!;
    const { images } = (await queryOne<{ images: number }>("select wal_fpi::float8 as images from pg_stat_wal"))!;
    return { lsn, images, cpu: cpuUs(postmaster), at: performance.now() };
  };
  const before = await look();
  await work();
  const after = await look();
  return {
    wal: (after.lsn - before.lsn) / recipients,
    images: after.images - before.images,
    cpuUs: (after.cpu - before.cpu) / recipients,
    seconds: (after.at - before.at) / 1_000,
  };
}

async function expand(campaign: string): Promise<void> {
  const broker = { emit: async () => {}, logger: console } as unknown as ServiceBroker;
  while ((await expandSlice(broker, campaign)) === "more");
}

const LEASE = `update send_chunks set state = state + 1, owner = $2, fence = fence + 1, lease_until = now() + interval '1 hour'
  where campaign_id = $1 returning campaign_id, company_id, no, lo, hi, fence`;
const MAILS = `select e.campaign_no, e.seq, e.attempts, coalesce(e.email, s.email) as email
  from campaigns c join sent_emails e on e.campaign_no = c.no
  left join subscribers s on s.company_id = c.company_id and s.id = e.subscriber_id
  where c.id = $1 and e.seq between $2 and $3 order by e.seq`;

type Lease = Pick<LeasedChunk, "campaign_id" | "no" | "lo" | "hi" | "fence"> & { company_id: string };
interface Mail {
  id: string;
  message_id: string;
  campaign_no: number;
  seq: number;
  attempts: number;
  email: string;
}

/** A queue id in the style of Postfix: microseconds and a file number. */
const queueId = (n: number) => `4Zk${(1e9 + n * 7919).toString(36)}z${(n * 31).toString(36)}`.slice(0, 12);

async function record(campaign: string): Promise<void> {
  const connection = new PinnedConnection();
  const ignore = () => {};
  const callbacks = { log: { error: ignore }, onFlushed: ignore, onOutage: ignore };
  const recorder = new Recorder({ connection, owner: OWNER, leaseMs: 3_600_000, groupSize: GROUP, ...callbacks });
  const leases = await query<Lease>(LEASE, [campaign, OWNER]);
  let n = 0;
  for (const lease of leases.toSorted((a, b) => a.no - b.no)) {
    const own = { companyId: lease.company_id, campaignId: campaign };
    const chunk: LeasedChunk = { ...lease, ...own, markedTo: lease.hi, validFrom: performance.now() };
    const mails = await withIds(await query<Mail>(MAILS, [campaign, lease.lo, lease.hi]));
    for (const { id, campaign_no, seq, attempts, email, message_id } of mails) {
      const text = `2.0.0 Ok: queued as ${queueId(++n)}`;
      const result: RecordedResult = {
        ...own,
        mail: { campaignNo: campaign_no, id, email, messageId: message_id },
        chunk,
        seq,
        attempts,
        copyNo: null,
        outcome: { status: "sent", error: null, reply: { code: 250, enhanced: "2.0.0", text } as never },
        copies: [],
        delayMs: null,
        by: { recorded: ignore },
      };
      recorder.add(result);
      if (n % GROUP === 0) await recorder.drain();
    }
    await recorder.close(chunk);
  }
  await recorder.drain();
  connection.close();
}

const SIZES = `
  select c.relname as name, pg_relation_size(c.oid)::float8 as bytes from pg_class c
  where (c.relname ~ '^sent_emails_' or c.relname ~ '^send_chunks') and c.relkind in ('r', 'i') and pg_relation_size(c.oid) > 16384
  order by bytes desc`;

const folder = dataFolder();
const postgres = await startEmbeddedPostgres(folder.path, { full_page_writes: fullPageWrites ? "on" : "off" });
try {
  await migrate(postgres.url);
  Object.assign(process.env, { DATABASE_URL: postgres.url, SECRET_KEY: "bench-secret-bench-secret-bench-secret" });
  openDatabase(postgres.url, 10);
  const postmaster = postmasterOf(join(folder.path, "postgres"));
  const { company, campaign } = await prepare();
  await query("checkpoint");
  const expansion = await measured(postmaster, () => expand(campaign));
  const recording = await measured(postmaster, () => record(campaign));
  const rate = (use: Use) =>
    `${use.cpuUs.toFixed(1)} µs of PostgreSQL, ${(recipients / use.seconds).toFixed(0)} rows/s`;
  const wal = (use: Use) => `${use.wal.toFixed(0)} bytes of WAL (${use.images} full-page images)`;
  const print = (line: string) => process.stdout.write(`${line}\n`);
  print(`${recipients} recipients, full_page_writes ${fullPageWrites ? "on" : "off"}; for each:`);
  print(`expansion  ${rate(expansion)}, ${wal(expansion)}`);
  print(`recording  ${rate(recording)}, ${wal(recording)}`);
  print(`together   ${(expansion.wal + recording.wal).toFixed(0)} bytes of WAL`);
  const sizes = await query<{ name: string; bytes: number }>(SIZES);
  for (const { name, bytes } of sizes) print(`  ${name} ${(bytes / recipients).toFixed(1)} bytes`);
  print(`on disk    ${(sizes.reduce((sum, { bytes }) => sum + bytes, 0) / recipients).toFixed(1)} bytes`);
  const [hot] = await query<{ share: number }>(
    "select 100.0 * sum(n_tup_hot_upd)::float8 / sum(n_tup_upd) as share from pg_stat_user_tables where relname ~ '^sent_emails_'",
  );
  print(`HOT        ${hot!.share.toFixed(1)} % of updates`);

  async function hits(name: string, link: number): Promise<void> {
    const ask = (sql: string) => query<Size>(sql);
    const before = await sizesNow(ask);
    const use = await measured(postmaster, () => hitEach(campaign, recipients, link));
    const { bytes, by } = grown(before, await sizesNow(ask), recipients);
    print(`${name}: ${rate(use)}, ${wal(use)}, ${bytes.toFixed(0)} bytes on disk`);
    for (const one of by) print(`  ${one.name} ${one.bytes.toFixed(1)} bytes`);
  }
  await query("checkpoint");
  await hits("first open", 0);
  await hits("click", 1);
  await hits("later open", 0);
  await addWebhook(company);
  await hits("later open with a webhook", 0);
} finally {
  await closeDatabase();
  await postgres.stop();
  folder.remove();
}
