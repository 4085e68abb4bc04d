/**
 * Measures the API's throughput: GET and POST of one subscriber over 32 connections, compared with a bare Koa app that
 * answers the same bytes in the same run; then the first and last page of the list at 10 requests a second.
 *
 *     node test/bench gateway [subscribers=1000000] [seconds=5]
 *
 * Service, load and PostgreSQL share the machine. Prints figures and ratios; nothing passes or fails.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Koa from "koa";
import { closeDatabase, openDatabase, query, queryOne } from "../../models/database/db.ts";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { type LoadResult, load } from "./load.ts";
import { startServices } from "./serve.ts";

const [subscribers = 1_000_000, seconds = 5] = process.argv.slice(2).map(Number);
const CONNECTIONS = 32;
const PAGE_PACE = 10;

/** A minimal Koa app with a constant answer. */
async function serveBare(): Promise<void> {
  const body = {
    id: "018f0000-0000-7000-8000-000000000001",
    email: "ann@example.com",
    first_name: "Ann",
    last_name: "",
  };
  const app = new Koa().use((ctx) => {
    ctx.body = body;
  });
  const server = createServer(app.callback()).listen(0, "127.0.0.1");
  await once(server, "listening");
  process.send!((server.address() as AddressInfo).port);
}

async function serveApi(): Promise<void> {
  process.send!((await startServices(["gateway", "accounts", "subscribers"])).port);
}

async function start(role: "bare" | "api", env: NodeJS.ProcessEnv = {}): Promise<[ChildProcess, number]> {
  const child = fork(import.meta.filename, [role], { env: { ...process.env, ...env } });
  const [port] = (await once(child, "message")) as [number];
  return [child, port];
}

async function newKey(port: number): Promise<{ key: string; companyId: string }> {
  const post = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const init = {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "Content-Type": "application/json", ...headers },
    };
    return (await fetch(`http://127.0.0.1:${port}${path}`, init)).json() as Promise<
      Record<string, string & { id: string }>
    >;
  };
  const owner = { email: "bench@example.com", password: "correct horse battery", company_name: "Bench" };
  const { company, access } = await post("/api/auth/register/", owner);
  const made = await post(
    `/api/companies/${company!.id}/api-keys/`,
    { name: "bench" },
    { Authorization: `Bearer ${access}` },
  );
  return { key: made.key!, companyId: company!.id };
}

async function seed(companyId: string): Promise<void> {
  await query(
    `insert into subscribers (company_id, email, first_name, last_name)
     select $1, 'reader' || n || '@example.com', 'First' || n % 1000, 'Last' || n from generate_series(1, $2::int) n`,
    [companyId, subscribers],
  );
  await query("vacuum analyze subscribers");
}

const get = (path: string, key: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`;

function post(path: string, key: string, body: object): string {
  const text = JSON.stringify(body);
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
}

function report(name: string, { perSecond, p50Ms, p99Ms, statuses }: LoadResult, bare?: LoadResult): void {
  const ratio = bare ? `   ${(perSecond / bare.perSecond).toFixed(2)} of bare Koa` : "";
  const times = `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
  console.log(
    `${name.padEnd(26)} ${Math.round(perSecond).toLocaleString("en").padStart(7)}/s   ${times}${ratio}   ${JSON.stringify(statuses)}`,
  );
}

async function measure(bare: number, api: number): Promise<void> {
  const { key, companyId } = await newKey(api);
  await seed(companyId);
  const { id } = (await queryOne<{ id: string }>("select id from subscribers where company_id = $1 limit 1", [
    companyId,
  ]))!;
  const saturate = (port: number, request: (n: number) => string) =>
    load({ port, connections: CONNECTIONS, seconds, request });
  const list = "/api/emails/subscribers/";

  await saturate(bare, () => get("/", key));
  await saturate(api, () => get(`${list}${id}/`, key));
  const constant = await saturate(bare, () => get("/", key));
  report("bare Koa", constant);
  report("GET one subscriber", await saturate(api, () => get(`${list}${id}/`, key)), constant);
  const fresh = (n: number) => ({ email: `fresh${n}-${process.pid}@example.com`, first_name: "Fresh" });
  report("POST subscriber", await saturate(api, (n) => post(list, key, fresh(n))), constant);

  const { n } = (await queryOne<{ n: number }>("select count_of($1, 'subscribers', $1) n", [companyId]))!;
  for (const page of [1, Math.floor(subscribers / 25) || 1, Math.ceil(n / 20)]) {
    const request = () => get(`${list}?page=${page}`, key);
    report(
      `page ${page.toLocaleString("en")} of ${n.toLocaleString("en")}`,
      await load({ port: api, connections: 4, seconds, request, pace: PAGE_PACE }),
    );
  }
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "flockmail-bench-"));
  const postgres = await startEmbeddedPostgres(folder);
  const children: ChildProcess[] = [];
  try {
    const [bareChild, bare] = await start("bare");
    children.push(bareChild);
    const [apiChild, api] = await start("api", {
      DATABASE_URL: postgres.url,
      HOST: "127.0.0.1",
      SECRET_KEY: "bench-secret-bench-secret",
      PORT: "0",
      HEALTH_PORT: "0",
      LOGLEVEL: "error",
    });
    children.push(apiChild);
    openDatabase(postgres.url, 2);
    await measure(bare, api);
  } finally {
    await closeDatabase();
    for (const child of children) {
      child.kill("SIGKILL");
    }
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const role = process.argv[2];
if (role === "bare") await serveBare();
else if (role === "api") await serveApi();
else await main();
