/**
 * Measures how long writing a campaign's recipients takes.
 *
 *     node test/bench expansion [people=1000000] [connections=20] [rounds=2]
 *
 * One service process with an embedded PostgreSQL. Measures from the POST to the last written recipient: first with a
 * mail server that never answers, then with Debian's smtp-sink at full speed over that many connections. Prints
 * seconds, mails sent meanwhile, and for the first case PostgreSQL's CPU per recipient, compared with inserting the
 * same rows into an otherwise empty table.
 */
import { randomUUID } from "node:crypto";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { closeDatabase, openDatabase, query, queryOne, transaction } from "../../models/database/db.ts";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { startSmtpSink } from "../support/servers.ts";
import { dataFolder, startService } from "../support/service-process.ts";
import { type Ids, newAccount, post, prepare } from "./campaign.ts";
import { cpuUs, postmasterOf, untilQuiet } from "./cpu.ts";

const [people = 1_000_000, connections = 20, rounds = 2] = process.argv.slice(2).map(Number);
/** Rows per statement, as in an import. */
const PART = 50_000;
const POLL_MS = 20;
/** Number of rows of a slice of the expansion. */
const [BARE_SLICE, BARE_SLICES] = [20_000, 5];

interface Campaign {
  expanded: boolean;
  sent: number;
  status: string;
}

const campaignOf = async (id: string): Promise<Campaign> =>
  (await queryOne<Campaign>(
    "select expanded_at is not null as expanded, sent_count as sent, status::text as status from campaigns where id = $1",
    [id],
  ))!;

async function addPeople({ list }: Ids): Promise<void> {
  const { company_id } = (await queryOne<{ company_id: string }>("select company_id from lists where id = $1", [
    list,
  ]))!;
  for (let from = 1; from <= people; from += PART) {
    await query(
      `with person as (
         insert into subscribers (id, company_id, email, first_name)
         select i.id, $1, 'somebody-' || i.n || '@mail' || i.n % 97 || '.example.com', 'Somebody'
         from (select id, $3::int - 1 + row_number() over (order by id) as n
           from (select uuid_v7() as id from generate_series($3::int, $4::int)) made) i
         returning id)
       insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from person`,
      [company_id, list, from, Math.min(from + PART - 1, people)],
    );
  }
  await query("vacuum analyze");
}

/** Inserts bare recipient rows of a part of the audience; returns PostgreSQL's microseconds per row. */
async function bareRows(postmaster: number, { list }: Ids): Promise<number> {
  await query("create unlogged table bench_bare (n int primary key, subscriber_id uuid not null)");
  await query(
    `insert into bench_bare select row_number() over (order by subscriber_id), subscriber_id from list_members
     where list_id = $1 order by subscriber_id limit $2`,
    [list, BARE_SLICE * BARE_SLICES],
  );
  await query("vacuum analyze bench_bare");
  const { no } = (await queryOne<{ no: number }>("select max(campaign_no) + 1000000 as no from sent_emails"))!;
  const before = cpuUs(postmaster);
  for (let slice = 0; slice < BARE_SLICES; slice++) {
    await transaction(async (client) => {
      await client.query("set local synchronous_commit = off");
      await client.query(
        `insert into sent_emails (campaign_no, seq, subscriber_id)
         select $1, n, subscriber_id from bench_bare where n > $2 and n <= $3 order by n`,
        [no, slice * BARE_SLICE, (slice + 1) * BARE_SLICE],
      );
    });
  }
  const us = (cpuUs(postmaster) - before) / (BARE_SLICE * BARE_SLICES);
  await query("delete from sent_emails where campaign_no = $1", [no]);
  await query("drop table bench_bare");
  return us;
}

const folder = dataFolder();
const postgres = await startEmbeddedPostgres(folder.path);
const sink = await startSmtpSink();
const mute = createServer(() => {}).listen(0, "127.0.0.1");
const service = await startService({
  env: {
    DATABASE_URL: postgres.url,
    SECRET_KEY: randomUUID(),
    REGISTRATION: "open",
    ALLOW_PRIVATE_NETWORKS: "true",
    DATA_DIR: folder.path,
    LOGLEVEL: "error",
  },
});
openDatabase(postgres.url, 2);
try {
  await service.ready();
  const api = await newAccount(service.url);
  const ids = await prepare(api, new URL(sink.url), 1, connections);
  await addPeople(ids);
  const muteUrl = new URL(`smtp://127.0.0.1:${(mute.address() as AddressInfo).port}`);
  const { smtp: silent } = await prepare(api, muteUrl, 1, connections);
  const postmaster = postmasterOf(join(folder.path, "postgres"));

  const expand = async (name: string, smtp: string) => {
    await untilQuiet(postmaster);
    const [before, began] = [cpuUs(postmaster), performance.now()];
    const { id } = await post(api, "send/to-list", {
      name: "Bench",
      template_id: ids.template,
      smtp_config_id: smtp,
      list_id: ids.list,
    });
    let now = await campaignOf(id);
    for (; !now.expanded; now = await campaignOf(id)) await sleep(POLL_MS);
    const [ms, us] = [performance.now() - began, (cpuUs(postmaster) - before) / people];
    const left = now.sent > 0 ? `${now.sent} mails left meanwhile` : `${us.toFixed(1)} µs of PostgreSQL each`;
    console.log(`${name}: ${people} recipients in ${(ms / 1_000).toFixed(2)} s; ${left}`);
    await post(api, `campaigns/${id}/stop`, {});
    while (["pending", "sending"].includes((await campaignOf(id)).status)) await sleep(POLL_MS);
  };

  for (let round = 1; round <= rounds; round++) {
    await expand("alone", silent);
    await untilQuiet(postmaster);
    console.log(`the bare rows: ${(await bareRows(postmaster, ids)).toFixed(1)} µs of PostgreSQL each`);
    await expand("while mail leaves", ids.smtp);
  }
} finally {
  await service.child.stop();
  await closeDatabase();
  await sink.stop();
  mute.close();
  await postgres.stop();
  folder.remove();
}
