/**
 * Measures the cost of webhooks, and how slow endpoints affect others.
 *
 *     node test/bench webhooks [endpoints=10000] [deliveries=10000] [perSecond=100] [seconds=20]
 *
 * First, CPU of a delivery by the service (claimed, signed, sent over TLS, recorded) and PostgreSQL, compared with a
 * bare `undici` in its own process that posts the same bodies and headers to the same receiver; limit: 4 times.
 *
 * Second, events at a steady rate over all endpoints: age of an event on arrival (p50, p99), first with all endpoints
 * healthy, then with 1 % answering after 5 s and 1 % dead (half refuse connections, half never answer), measured at the
 * healthy ones; aim: p99 below 1 s.
 *
 * Each company has ten endpoints. Service, receiver, PostgreSQL and load share the machine: compare within one run.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttp, type RequestListener } from "node:http";
import { createServer as createHttps } from "node:https";
import { type AddressInfo, createServer as createTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { rootCertificates } from "node:tls";
import { closeDatabase, openDatabase, query, queryOne } from "../../models/database/db.ts";
import { outboxInsert } from "../../models/statements/webhook-outbox.ts";
import { newId } from "../../services/lib/ids.ts";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { seal } from "../../services/lib/secrets.ts";
import { newSecret, signedHeaders, signingKey } from "../../services/webhooks/signature.ts";
import { selfMadeCertificate } from "../support/certificate.ts";
import { cpuUs, ownCpuUs, postmasterOf } from "./cpu.ts";
import { percentile } from "./percentile.ts";

const SECRET_KEY = "bench-secret-bench-secret";
const ENDPOINTS_PER_COMPANY = 10;
const SLOW_MS = 5_000;
const AT_ONCE = 64;
const WARM_UP = 0.2;

const [endpoints = 10_000, deliveries = 10_000, perSecond = 100, seconds = 20] = process.argv.slice(2).map(Number);

interface Arrived {
  count: number;
  agesMs: number[];
}

/** Answers at once, under /slow/ after 5 s, under /silent/ never. Reports the age of events on arrival. */
function receive(): void {
  let arrived: Arrived = { count: 0, agesMs: [] };
  const listener: RequestListener = (request, response) => {
    const cameMs = Date.now();
    let body = "";
    request.setEncoding("utf8").on("data", (text) => {
      body += text;
    });
    request.on("end", () => {
      if (request.url!.startsWith("/silent/")) return;
      if (request.url!.startsWith("/slow/")) return void setTimeout(() => response.end(), SLOW_MS);
      arrived.count++;
      arrived.agesMs.push(cameMs - Date.parse((JSON.parse(body) as { timestamp: string }).timestamp));
      response.end();
    });
  };
  process.once("message", async (certificate: { cert: string; key: string }) => {
    const servers = [createHttps(certificate, listener), createHttp(listener)];
    for (const server of servers) {
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
    }
    process.send!(servers.map((server) => (server.address() as AddressInfo).port));
    process.on("message", () => {
      process.send!(arrived);
      arrived = { count: 0, agesMs: [] };
    });
  });
}

async function serve(): Promise<void> {
  const { ServiceBroker } = await import("moleculer");
  const { brokerOptions } = await import("../../moleculer.config.ts");
  const { config } = await import("../../services/lib/config.ts");
  const { emitWebhookQueued } = await import("../../services/call.ts");
  const broker = new ServiceBroker(brokerOptions(config()));
  broker.createService((await import("../../services/webhooks/webhooks.service.ts")).default);
  await broker.start();
  process.on("message", (companyIds: string[]) => void emitWebhookQueued(broker, companyIds));
  process.send!("ready");
}

interface Bare {
  url: string;
  ca: string;
  body: string;
  secret: string;
  count: number;
}

/** Minimal posting: bodies are signed once. Reports CPU per request. */
async function postBare(): Promise<void> {
  const { Pool } = await import("undici");
  process.once("message", async ({ url, ca, body, secret, count }: Bare) => {
    const { origin, pathname } = new URL(url);
    const pool = new Pool(origin, { connections: AT_ONCE, connect: { ca } });
    const headers = { "content-type": "application/json", "user-agent": "Flockmail-Webhooks/1.0" };
    const all = { ...headers, ...signedHeaders([signingKey(secret)], newId(), body) };
    const warmUp = Math.ceil(count * WARM_UP);
    let begun = 0;
    let ended = 0;
    let before = process.cpuUsage();
    const line = async () => {
      while (begun++ < warmUp + count) {
        const answer = await pool.request({ method: "POST", path: pathname, headers: all, body });
        await answer.body.dump();
        if (++ended === warmUp) before = process.cpuUsage();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, line));
    const { user, system } = process.cpuUsage(before);
    await pool.close();
    process.send!((user + system) / count);
  });
}

interface Endpoint {
  id: string;
  companyId: string;
  url: string;
}

async function seed(url: (n: number) => string, count: number): Promise<Endpoint[]> {
  const companies = Array.from({ length: Math.ceil(count / ENDPOINTS_PER_COMPANY) }, newId);
  await query("insert into companies (id, name, plan) select id, 'Bench', 'unlimited' from unnest($1::uuid[]) id", [
    companies,
  ]);
  const made = Array.from({ length: count }, (_, n): Endpoint & { sealed: Buffer } => {
    const id = newId();
    return { id, companyId: companies[n % companies.length]!, url: url(n), sealed: seal(newSecret(), id) };
  });
  await query(
    `insert into webhook_endpoints (id, company_id, url, events, secret_sealed)
     select id, company, url, '{opened}', sealed
     from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[]) as e (id, company, url, sealed)`,
    [
      made.map(({ id }) => id),
      made.map(({ companyId }) => companyId),
      made.map(({ url: address }) => address),
      made.map(({ sealed }) => sealed),
    ],
  );
  return made;
}

const METADATA = JSON.stringify({ user_agent: "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)", machine: false });

/** Inserts events for one endpoint each, through the outbox's own statement. */
async function queueEvents(ids: readonly string[]): Promise<string[]> {
  // Only one of a company's ten endpoints subscribes to this event type at the moment.
  const sql = outboxInsert("event").replace(
    "w.company_id = e.company_id",
    "w.company_id = e.company_id and w.id = e.endpoint_id",
  );
  const rows = await query<{ company_id: string }>(
    `with event as (
       select uuid_v7() as id, w.company_id, w.id as endpoint_id, 'opened'::text as type, 'reader@example.com'::text as recipient,
         uuid_v7() as sent_email_id, uuid_v7() as campaign_id, $2::jsonb as metadata, clock_timestamp() as created_at
       from unnest($1::uuid[]) as asked (id) join webhook_endpoints w on w.id = asked.id)
     ${sql}`,
    [ids, METADATA],
  );
  return [...new Set(rows.map(({ company_id }) => company_id))];
}

const child = (role: string, env: NodeJS.ProcessEnv = {}) =>
  fork(import.meta.filename, [role], { env: { ...process.env, ...env } });

async function ask<T>(of: ChildProcess, question: object): Promise<T> {
  of.send(question);
  return (await once(of, "message"))[0] as T;
}

const settled = () =>
  queryOne<{ n: number }>("select count(*)::int as n from webhook_deliveries where status = 'succeeded'").then(
    (row) => row!.n,
  );

interface Scene {
  service: ChildProcess;
  receiver: ChildProcess;
  postgres: number;
  tlsPort: number;
  port: number;
  ca: string;
}

async function cost({ service, postgres, tlsPort, ca }: Scene): Promise<void> {
  const all = await seed((n) => `https://127.0.0.1:${tlsPort}/well/${n}`, AT_ONCE);
  const warmUp = Math.ceil(deliveries * WARM_UP);
  const run = async (count: number) => {
    const until = (await settled()) + count;
    await queueEvents(Array.from({ length: count }, (_, n) => all[n % all.length]!.id));
    await query("vacuum analyze webhook_deliveries");
    const before = [ownCpuUs(service.pid!), cpuUs(postgres)] as const;
    service.send([...new Set(all.map(({ companyId }) => companyId))]);
    while ((await settled()) < until) await sleep(200);
    return [ownCpuUs(service.pid!) - before[0], cpuUs(postgres) - before[1]].map((us) => us / count);
  };
  await run(warmUp);
  const [ours, database] = await run(deliveries);
  const payload = (await queryOne<{ body: string }>("select payload::text as body from webhook_deliveries limit 1"))!;
  const url = `https://127.0.0.1:${tlsPort}/well/0`;
  const bare = child("bare");
  const theirs = await ask<number>(bare, { url, ca, body: payload.body, secret: newSecret(), count: deliveries });
  bare.kill("SIGKILL");
  const us = (n: number) => `${Math.round(n)} µs`;
  console.log(`CPU of a delivery over TLS: ${us(ours!)}, PostgreSQL ${us(database!)}, bare undici ${us(theirs)}`);
  console.log(`ratio to bare undici ${(ours! / theirs).toFixed(2)} (limit: 4)`);
  await query("delete from companies");
}

async function pace({ service, receiver, postgres }: Scene, all: readonly Endpoint[], name: string): Promise<number> {
  await ask(receiver, {});
  const count = perSecond * seconds;
  const began = performance.now();
  const before = [ownCpuUs(service.pid!), cpuUs(postgres)] as const;
  const well = all.filter(({ url }) => url.includes("/well/"));
  for (let n = 0, tick = 1; n < count; tick++) {
    const some = Math.min(count - n, Math.ceil(perSecond / 20));
    // Unhealthy endpoints get events as often as the others.
    const ids = Array.from({ length: some }, (_, k) => all[((n + k) * 7_919) % all.length]!.id);
    service.send(await queueEvents(ids));
    n += some;
    await sleep(Math.max(0, began + (tick * some * 1_000) / perSecond - performance.now()));
  }
  const meant = Array.from({ length: count }, (_, n) => all[(n * 7_919) % all.length]!);
  const wellOnes = new Set(well.map(({ id }) => id));
  const expected = meant.filter(({ id }) => wellOnes.has(id)).length;
  const ages: number[] = [];
  for (let tries = 0; ages.length < expected && tries < 600; tries++) {
    await sleep(200);
    ages.push(...(await ask<Arrived>(receiver, {})).agesMs);
  }
  const sorted = ages.toSorted((a, b) => a - b);
  const [p50, p99] = [percentile(sorted, 0.5), percentile(sorted, 0.99)];
  const cpu = [ownCpuUs(service.pid!) - before[0], cpuUs(postgres) - before[1]].map((us) => Math.round(us / count));
  console.log(
    `${name.padEnd(28)} ${ages.length} of ${expected} arrived, p50 ${p50} ms, p99 ${p99} ms, CPU ${cpu[0]} µs, PostgreSQL ${cpu[1]} µs`,
  );
  return p99;
}

async function waits(scene: Scene): Promise<void> {
  const closed = createTcp().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port: refusing } = closed.address() as AddressInfo;
  closed.close();
  const well = await seed((n) => `http://127.0.0.1:${scene.port}/well/${n}`, endpoints);
  const quiet = await pace(scene, well, "all well");
  const bad = [
    `http://127.0.0.1:${scene.port}/slow/`,
    `http://127.0.0.1:${refusing}/`,
    `http://127.0.0.1:${scene.port}/slow/`,
  ];
  const badUrl = (n: number) => (n % 4 === 3 ? `http://127.0.0.1:${scene.port}/silent/${n}` : `${bad[n % 4]}${n}`);
  const mixed = well.map((endpoint, n) => (n % 50 === 0 ? { ...endpoint, url: badUrl(n / 50) } : endpoint));
  const changed = mixed.filter((endpoint, n) => endpoint !== well[n]);
  await query(
    "update webhook_endpoints w set url = n.url from unnest($1::uuid[], $2::text[]) as n (id, url) where w.id = n.id",
    [changed.map(({ id }) => id), changed.map(({ url }) => url)],
  );
  const p99 = await pace(scene, mixed, "1 % slow, 1 % dead");
  console.log(`p99 of the others, ratio to all well ${(p99 / Math.max(1, quiet)).toFixed(2)}`);
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "flockmail-bench-"));
  const certificate = selfMadeCertificate();
  const ca = join(folder, "ca.pem");
  writeFileSync(ca, [certificate.cert, ...rootCertificates].join("\n"));
  const database = await startEmbeddedPostgres(join(folder, "data"));
  const children: ChildProcess[] = [];
  try {
    const receiver = child("receiver");
    children.push(receiver);
    const [tlsPort, port] = await ask<[number, number]>(receiver, certificate);
    const env = { DATABASE_URL: database.url, SECRET_KEY, PORT: "0", HEALTH_PORT: "0", LOGLEVEL: "error" };
    const service = child("service", { ...env, ALLOW_PRIVATE_NETWORKS: "true", NODE_EXTRA_CA_CERTS: ca });
    children.push(service);
    await once(service, "message");
    openDatabase(database.url, 2);
    const postgres = postmasterOf(join(folder, "data", "postgres"));
    const scene = { service, receiver, postgres, tlsPort, port, ca: certificate.cert };
    await cost(scene);
    await waits(scene);
  } finally {
    await closeDatabase();
    for (const one of children) one.kill("SIGKILL");
    await database.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

process.env.SECRET_KEY = SECRET_KEY;
const role = process.argv[2];
if (role === "receiver") receive();
else if (role === "service") await serve();
else if (role === "bare") await postBare();
else await main();
