/**
 * Stores an evening of opens and clicks over HTTP at full speed, then compares a company's statistics with what was
 * sent, and checks the size of counter tables.
 *
 *     node test/bench evening [hits] [mails] [connections]
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { cpuUs, postmasterOf } from "./cpu.ts";
import { type Asked, askAll, startServing } from "./hit-load.ts";
import { startServices } from "./serve.ts";

const [HITS = 2_000_000, MAILS = 400_000, CONNECTIONS = 256] = process.argv
  .slice(2)
  .filter((given) => given !== "serve")
  .map(Number);
const LINKS = 3;
const SCANNER = "Mozilla/5.0 (compatible; proofpoint)";
/** One hit in this many is a click, and another an open by a scanner. */
const CLICK_OF = 20;
const SCAN_OF = 10;
/** A prime, so that all mails are visited in an order unrelated to their rows. */
const STRIDE = 104_729;
/** Autovacuum runs every minute. */
const IDLE_MS = 75_000;
const PUBLIC = "/api/emails/public";

interface Serving {
  port: number;
  /** Paths of each mail: its pixel, then its links. */
  paths: string[][];
}

interface Shown {
  opens: { total: number; unique: number; machine: number };
  clicks: { total: number; unique: number; machine: number };
  links: { url: string; total: number; unique: number }[];
}

const ROWS = `select (select count(*) from hits) as hits, sum(opens) as opens, sum(clicks) as clicks, count(opened_at) as opened,
  count(clicked_at) as clicked from sent_emails`;
const TABLES = `
  select relname, n_live_tup as live, n_dead_tup as dead, n_tup_upd as updates, n_tup_hot_upd as hot, autovacuum_count as vacuums,
    pg_total_relation_size(relid) / 1024 / 1024 as mb
  from pg_stat_user_tables where relname ~ '^(hits_|sent_emails_\\d)|^(campaign_counts|counters|company_days|webhook_deliveries)$'
    and n_live_tup + n_dead_tup + n_tup_upd > 0
  order by relname`;

/** The process under load. */
async function serve(): Promise<void> {
  const { broker, port } = await startServices(["gateway", "accounts", "tracking"]);
  const { newWorld, token } = await import("../integration/tracking/world.ts");
  const { query, queryOne } = await import("../../models/database/db.ts");
  const { mails, companyId, campaignId } = await newWorld(MAILS);
  const paths = mails.map(({ id }) =>
    Array.from({ length: LINKS + 1 }, (_, link) =>
      link === 0 ? `${PUBLIC}/open/${token(id, 0)}.gif` : `${PUBLIC}/click/${token(id, link)}/`,
    ),
  );
  await query("analyze");
  process.send!({ port, paths } satisfies Serving);
  for await (const [message] of on(process)) {
    if (message === "stop") break;
    const shown = await broker.call("tracking.analytics", { id: campaignId }, { meta: { companyId } });
    process.send!({ shown, rows: await queryOne(ROWS), tables: await query(TABLES) });
  }
  await broker.stop();
  process.exit();
}

async function* on(from: NodeJS.Process) {
  for (;;) yield once(from, "message");
}

/** Hits to send, and the expected counts. */
function evening(paths: readonly string[][]) {
  const opened = new Uint8Array(MAILS);
  const clicked = new Uint8Array(MAILS);
  const sent = { hits: 0, opens: 0, machine: 0, clicks: 0, ofLink: Array<number>(LINKS).fill(0) };
  let n = 0;
  const next = (): Asked | undefined => {
    if (n === HITS) return undefined;
    const turn = n++;
    const mail = (turn * STRIDE) % MAILS;
    sent.hits++;
    const kind = turn + Math.floor(turn / MAILS);
    if (kind % CLICK_OF === 0) {
      const link = (mail % LINKS) + 1;
      sent.clicks++;
      sent.ofLink[link - 1]!++;
      clicked[mail] = 1;
      return { path: paths[mail]![link]!, expected: "302" };
    }
    if (kind % SCAN_OF === 1) {
      sent.machine++;
      return { path: paths[mail]![0]!, expected: "200", agent: SCANNER };
    }
    sent.opens++;
    opened[mail] = 1;
    return { path: paths[mail]![0]!, expected: "200" };
  };
  const unique = (of: Uint8Array) => of.reduce((sum, one) => sum + one, 0);
  return { next, sent, unique: () => ({ opens: unique(opened), clicks: unique(clicked) }) };
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "flockmail-bench-"));
  const postgres = await startEmbeddedPostgres(folder);
  const child = startServing(fileURLToPath(import.meta.url), process.argv.slice(2), postgres.url, folder);
  const report = async () => {
    child.send("report");
    const [answer] = await once(child, "message");
    return answer as { shown: Shown; rows: Record<string, number>; tables: Record<string, unknown>[] };
  };
  try {
    const [{ port, paths }] = (await once(child, "message")) as [Serving];
    const pids = [child.pid!, postmasterOf(join(folder, "postgres"))];
    const load = evening(paths);
    const before = pids.map(cpuUs);
    const began = performance.now();
    const answered = await askAll(port, CONNECTIONS, load.next);
    const seconds = (performance.now() - began) / 1_000;
    const [node, database] = pids.map((pid, at) => ((cpuUs(pid) - before[at]!) / answered).toFixed(0));
    console.log(
      `${answered.toLocaleString("en")} answered in ${seconds.toFixed(0)} s: ${Math.round(answered / seconds).toLocaleString("en")}/s` +
        `   CPU µs each: Node ${node}, PostgreSQL ${database}; ten million take ${(1e7 / (answered / seconds) / 60).toFixed(0)} min`,
    );
    const { shown, rows, tables } = await report();
    const [{ sent }, unique] = [load, load.unique()];
    const compared: [name: string, sent: number, shown: number][] = [
      ["rows of hits", sent.hits, rows.hits!],
      ["opens", sent.opens, shown.opens.total],
      ["opens, unique", unique.opens, shown.opens.unique],
      ["opens by machines", sent.machine, shown.opens.machine],
      ["clicks", sent.clicks, shown.clicks.total],
      ["clicks, unique", unique.clicks, shown.clicks.unique],
      ["opens of mails", sent.opens, rows.opens!],
      ["clicks of mails", sent.clicks, rows.clicks!],
      ["mails opened", unique.opens, rows.opened!],
      ...sent.ofLink.map((n, at): [string, number, number] => [`link ${at + 1}`, n, shown.links[at]?.total ?? 0]),
    ];
    console.table(compared.map(([what, sent, shown]) => ({ what, sent, shown, same: sent === shown })));
    console.table(tables);
    await sleep(IDLE_MS);
    console.log(`after ${IDLE_MS / 1_000} s idle`);
    console.table((await report()).tables);
    const ended = once(child, "exit");
    child.send("stop");
    await ended;
    process.exitCode = compared.every(([, sent, shown]) => sent === shown) ? 0 : 1;
  } finally {
    child.kill();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

await (process.argv[2] === "serve" ? serve() : measure());
