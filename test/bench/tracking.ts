/**
 * Measures opens and redirects per second that one node stores durably (fsync on) over HTTP, compared with a bare Koa
 * app with a constant answer over as many connections; and webhooks per second to a receiver on loopback.
 *
 *     node test/bench tracking [seconds per run] [connections]
 *
 * Load and service are separate processes.
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Koa from "koa";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { cpuUs, ownCpuUs, postmasterOf } from "./cpu.ts";
import { askAll, startServing } from "./hit-load.ts";
import { startServices } from "./serve.ts";

const SECONDS = Number(process.argv[2] ?? 5);
/** Every reader's mail client or proxy has its own connection: thousands in a busy minute. */
const CONNECTIONS = Number(process.argv[3] ?? 1_024);
/** Kinds alternate, because other work of the machine changes over minutes. */
const ROUNDS = 3;
/** Enough that none is clicked twice within seconds, because the state of each clicked mail is read. */
const MAILS = 50_000;
const WEBHOOKS = 5_000;

interface Serving {
  koa: number;
  service: number;
  opens: string[];
  clicks: string[];
}

/** The process under load. */
async function serve(): Promise<void> {
  const { broker, port } = await startServices(["gateway", "accounts", "tracking", "webhooks"]);
  const { newWorld, token } = await import("../integration/tracking/world.ts");
  const { mails, companyId } = await newWorld(MAILS);
  const bare = createServer(
    new Koa()
      .use((ctx) => {
        ctx.body = "ok";
      })
      .callback(),
  ).listen(0, "127.0.0.1");
  await once(bare, "listening");
  process.send!({
    koa: (bare.address() as AddressInfo).port,
    service: port,
    opens: mails.map(({ id }) => `/api/emails/public/open/${token(id, 0)}.gif`),
    clicks: mails.map(({ id }, n) => `/api/emails/public/click/${token(id, (n % 2) + 1)}/`),
  } satisfies Serving);
  await once(process, "message");
  process.send!(await webhooksPerSecond(companyId, (name) => broker.call(name)));
  await once(process, "message");
  await broker.stop();
  process.exit();
}

/** Time from the outbox to the recorded answer. */
async function webhooksPerSecond(companyId: string, act: (action: string) => Promise<unknown>): Promise<number> {
  const { query, queryOne } = await import("../../models/database/db.ts");
  const { newId } = await import("../../services/lib/ids.ts");
  const { seal } = await import("../../services/lib/secrets.ts");
  const receiver = createServer((request, response) => {
    request.resume().on("end", () => response.end());
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  const id = newId();
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  await query(
    "insert into webhook_endpoints (id, company_id, url, events, secret_sealed) values ($1, $2, $3, '{opened}', $4)",
    [id, companyId, url, seal("whsec_AAAA", id)],
  );
  await query(
    `insert into webhook_deliveries (company_id, endpoint_id, event_id, event_type, payload)
     select $1, $2, uuid_v7(), 'opened', '{"id": "x"}' from generate_series(1, $3)`,
    [companyId, id, WEBHOOKS],
  );
  const began = performance.now();
  await act("webhooks.deliverDue");
  const open = "select from webhook_deliveries where company_id = $1 and status = 'pending' limit 1";
  while (await queryOne(open, [companyId])) await new Promise((resolve) => setTimeout(resolve, 20));
  receiver.close();
  return (WEBHOOKS / (performance.now() - began)) * 1_000;
}

interface Rate {
  perSecond: number;
  /** Microseconds of CPU per request, by process in `pids`. */
  cpu: number[];
  /** The same for this process, which sends the requests. */
  load: number;
}

async function rate(port: number, paths: readonly string[], expected: string, pids: number[]): Promise<Rate> {
  let n = 0;
  const run = async (ms: number) => {
    const before = pids.map(cpuUs);
    const ownBefore = ownCpuUs(process.pid);
    const began = performance.now();
    const next = () => (performance.now() < began + ms ? { path: paths[n++ % paths.length]!, expected } : undefined);
    const answered = await askAll(port, CONNECTIONS, next);
    const perSecond = (answered / (performance.now() - began)) * 1_000;
    return {
      perSecond,
      cpu: pids.map((pid, at) => (cpuUs(pid) - before[at]!) / answered),
      load: (ownCpuUs(process.pid) - ownBefore) / answered,
    };
  };
  await run(1_000);
  return run(SECONDS * 1_000);
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

const meanOf = (rates: readonly Rate[]): Rate => ({
  perSecond: mean(rates.map(({ perSecond }) => perSecond)),
  cpu: rates[0]!.cpu.map((_, at) => mean(rates.map(({ cpu }) => cpu[at]!))),
  load: mean(rates.map(({ load }) => load)),
});

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "flockmail-bench-"));
  const postgres = await startEmbeddedPostgres(folder);
  const child = startServing(fileURLToPath(import.meta.url), [""], postgres.url, folder);
  try {
    const [at] = (await once(child, "message")) as [Serving];
    const pids = [child.pid!, postmasterOf(join(folder, "postgres"))];
    const kinds: [name: string, port: number, paths: string[], expected: string][] = [
      ["bare Koa", at.koa, ["/"], "200"],
      ["opens", at.service, at.opens, "200"],
      ["redirects", at.service, at.clicks, "302"],
    ];
    const rates = kinds.map((): Rate[] => []);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [n, [, ...asked]] of kinds.entries()) rates[n]!.push(await rate(...asked, pids));
    }
    const bare = meanOf(rates[0]!).perSecond;
    for (const [n, [name]] of kinds.entries()) {
      const { perSecond, cpu, load } = meanOf(rates[n]!);
      const [node, postgres] = cpu.map((us) => us.toFixed(0));
      console.log(
        `${name.padEnd(20)} ${Math.round(perSecond).toLocaleString("en")}/s   ${(perSecond / bare).toFixed(2)} of bare Koa` +
          `   CPU µs each: Node ${node}, PostgreSQL ${postgres}, load ${load.toFixed(0)}`,
      );
    }
    child.send("webhooks");
    const [webhooks] = (await once(child, "message")) as [number];
    console.log(`webhooks             ${Math.round(webhooks).toLocaleString("en")}/s`);
    const ended = once(child, "exit");
    child.send("stop");
    await ended;
  } finally {
    child.kill();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

await (process.argv[2] === "serve" ? serve() : measure());
