/**
 * Opens and redirects a second that one node stores durably (fsync on), over HTTP with 64 connections, beside a bare
 * Koa app that answers a constant; and webhooks a second to a receiver on loopback. Load and service are two processes.
 *
 *     node test/bench tracking [seconds per run]
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import Koa from "koa";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { cpuUs, postmasterOf } from "./cpu.ts";

/** A folder for a CPU profile of the service. */
const { PROFILE } = process.env;
const SECONDS = Number(process.argv[2] ?? 5);
const CONNECTIONS = 64;
/** So many that none is clicked again within seconds: no reader does that, and what went before is read for each click. */
const MAILS = 50_000;
const WEBHOOKS = 5_000;
const AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0";

interface Serving {
  koa: number;
  service: number;
  opens: string[];
  clicks: string[];
}

/** The process under load. */
async function serve(): Promise<void> {
  const { ServiceBroker } = await import("moleculer");
  const { brokerOptions } = await import("../../moleculer.config.ts");
  const { config } = await import("../../services/lib/config.ts");
  const { newWorld, token } = await import("../integration/tracking/world.ts");
  const broker = new ServiceBroker(brokerOptions(config()));
  for (const name of ["gateway", "accounts", "tracking", "webhooks"]) {
    broker.createService((await import(`../../services/${name}/${name}.service.ts`)).default);
  }
  await broker.start();
  const { mails, companyId } = await newWorld(MAILS);
  const bare = createServer(
    new Koa()
      .use((ctx) => {
        ctx.body = "ok";
      })
      .callback(),
  ).listen(0, "127.0.0.1");
  await once(bare, "listening");
  const gateway = broker.getLocalService("gateway") as unknown as { url: string };
  process.send!({
    koa: (bare.address() as AddressInfo).port,
    service: Number(new URL(gateway.url).port),
    opens: mails.map(({ id }) => `/api/emails/public/open/${token(id, 0)}.gif`),
    clicks: mails.map(({ id }, n) => `/api/emails/public/click/${token(id, (n % 2) + 1)}/`),
  } satisfies Serving);
  await once(process, "message");
  process.send!(await webhooksPerSecond(companyId, (name) => broker.call(name)));
  await once(process, "message");
  await broker.stop();
  process.exit();
}

/** From the outbox to the receiver's answer recorded. */
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

let asked = 0;

/** One connection that asks again as soon as it is answered; each request from another address. */
function ask(port: number, paths: readonly string[], until: number, expected: string, tally: { n: number }) {
  return new Promise<void>((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    const send = () => {
      const n = asked++;
      const ip = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
      const path = paths[n % paths.length];
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nUser-Agent: ${AGENT}\r\nX-Forwarded-For: ${ip}\r\n\r\n`);
    };
    socket.once("connect", send).once("error", reject);
    // Answers are small: each comes in one piece on loopback.
    socket.on("data", (data: Buffer) => {
      if (!data.subarray(9, 12).equals(Buffer.from(expected)))
        return reject(new Error(data.toString("latin1", 0, 200)));
      tally.n++;
      if (performance.now() < until) return send();
      socket.end();
      resolve();
    });
  });
}

interface Rate {
  perSecond: number;
  /** Microseconds of CPU per request, of each process in `pids`. */
  cpu: number[];
}

async function rate(port: number, paths: readonly string[], expected: string, pids: number[]): Promise<Rate> {
  const run = async (ms: number) => {
    const tally = { n: 0 };
    const before = pids.map(cpuUs);
    const began = performance.now();
    const all = Array.from({ length: CONNECTIONS }, () => ask(port, paths, began + ms, expected, tally));
    await Promise.all(all);
    const perSecond = (tally.n / (performance.now() - began)) * 1_000;
    return { perSecond, cpu: pids.map((pid, at) => (cpuUs(pid) - before[at]!) / tally.n) };
  };
  await run(1_000);
  return run(SECONDS * 1_000);
}

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "flockmail-bench-"));
  const postgres = await startEmbeddedPostgres(folder);
  const child = fork(fileURLToPath(import.meta.url), ["serve"], {
    execArgv: PROFILE === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${PROFILE}`],
    env: {
      ...process.env,
      DATABASE_URL: postgres.url,
      HOST: "127.0.0.1",
      SECRET_KEY: "bench-secret-bench-secret",
      PORT: "0",
      HEALTH_PORT: "0",
      TRUST_PROXY: "1",
      ALLOW_PRIVATE_NETWORKS: "true",
      LOGLEVEL: "error",
    },
  });
  try {
    const [at] = (await once(child, "message")) as [Serving];
    const pids = [child.pid!, postmasterOf(join(folder, "postgres")), process.pid];
    const bare = await rate(at.koa, ["/"], "200", pids);
    const report = (name: string, { perSecond, cpu }: Rate) => {
      const [node, postgres, load] = cpu.map((us) => us.toFixed(0));
      console.log(
        `${name.padEnd(20)} ${Math.round(perSecond).toLocaleString("en")}/s   ${(perSecond / bare.perSecond).toFixed(2)} of bare Koa` +
          `   CPU µs each: Node ${node}, PostgreSQL ${postgres}, load ${load}`,
      );
    };
    report("bare Koa", bare);
    report("opens", await rate(at.service, at.opens, "200", pids));
    report("redirects", await rate(at.service, at.clicks, "302", pids));
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
