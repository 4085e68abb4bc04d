/**
 * Measures pages of the console in a large company.
 *
 *     node test/bench console [people=1000000] [mails=10000000] [times=20]
 *
 * Prints for each page, including operators' pages: time to first byte and to completion with uncached style and
 * scripts (p50 and p99 of consecutive loads after a warm-up), CPU of the service, and bytes of the page and its assets
 * (gzip). Marks values above the limits (100 ms, 500 ms, 120 kB). Then prints the cost of a live page per viewer.
 * DATABASE_URL names a database that is filled once and kept; without it, a temporary one is used.
 */
import { type ChildProcess, fork } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { closeDatabase, openDatabase, query, queryOne } from "../../models/database/db.ts";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { storeLink } from "../../services/operator/operator-sessions.ts";
import { dataFolder } from "../support/service-process.ts";
import { type Example, examplesOf, pagesOf } from "./console-pages.ts";
import { ownCpuUs } from "./cpu.ts";
import { fillCompany } from "./large-company.ts";
import { API_SERVICES, benchEnvironment, startServices } from "./serve.ts";

const numbers = process.argv.slice(2).map(Number);
const [people = 1_000_000, mails = 10_000_000, times = 20] = numbers;
const OWNER = { email: "bench@example.com", password: "correct horse battery" };

async function startService(databaseUrl: string, folder: string): Promise<[ChildProcess, string]> {
  const env = benchEnvironment(databaseUrl, folder);
  const child = fork(import.meta.filename, ["serve"], { env: { ...process.env, ...env } });
  const [url] = (await once(child, "message")) as [string];
  return [child, url];
}

async function companyOf(url: string): Promise<string> {
  const found = await queryOne<{ id: string }>("select id from companies where name = 'Large'");
  if (found) return found.id;
  const init = {
    method: "POST",
    body: JSON.stringify({ ...OWNER, company_name: "Large" }),
    headers: { "content-type": "application/json" },
  };
  const { company } = (await (await fetch(`${url}/api/auth/register/`, init)).json()) as { company: { id: string } };
  await query("update companies set plan = 'unlimited' where id = $1", [company.id]);
  await fillCompany(company.id, { people, mails }, console.log);
  return company.id;
}

const cookieIn = (response: Response) => response.headers.get("set-cookie")!.split(";", 1)[0]!;

/** Submits the form of `page` and returns the cookie. */
async function signIn(url: string, path: string, fields: Record<string, string>): Promise<string> {
  const page = await fetch(`${url}/app/${path}`);
  const [, token] = /name="csrf-token" content="([^"]+)"/.exec(await page.text())!;
  const body = new URLSearchParams({ form_token: token!, ...fields });
  const headers = { cookie: cookieIn(page) };
  const answer = await fetch(`${url}/app/${path}`, { method: "POST", body, headers, redirect: "manual" });
  return cookieIn(answer);
}

async function signInAsOperator(url: string): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  const hash = createHash("sha256").update(token).digest();
  await storeLink({ id: crypto.randomUUID(), hash, name: "bench", goodSeconds: 300 }, 90);
  return signIn(url, "operator/sign-in", { token });
}

const LIMITS = { firstByteMs: 100, completeMs: 500, assetBytes: 120_000 };
const ZIPPED = { "accept-encoding": "gzip" };

interface Load {
  status: number;
  firstByteMs: number;
  completeMs: number;
  pageBytes: number;
  assetBytes: number;
}

async function bytesOf(address: string): Promise<number> {
  const response = await fetch(address, { headers: ZIPPED });
  await response.arrayBuffer();
  return Number(response.headers.get("content-length"));
}

async function load(url: string, { path, cookie }: Example): Promise<Load> {
  const startedMs = performance.now();
  const response = await fetch(`${url}/app/${path}`, { headers: { cookie, ...ZIPPED }, redirect: "manual" });
  const firstByteMs = performance.now() - startedMs;
  const { status } = response;
  if (!response.headers.get("content-type")?.startsWith("text/html")) {
    // Consumes downloads and redirects, too.
    await response.body?.cancel();
    return { status, firstByteMs, completeMs: firstByteMs, pageBytes: 0, assetBytes: 0 };
  }
  const html = await response.text();
  const assets = [...html.matchAll(/"(\/app\/assets\/[^"]+)"/g)].map((match) => match[1]!);
  const sizes = await Promise.all(assets.map((asset) => bytesOf(`${url}${asset}`)));
  return {
    status,
    firstByteMs,
    completeMs: performance.now() - startedMs,
    pageBytes: Number(response.headers.get("content-length") ?? html.length),
    assetBytes: sizes.reduce((sum, size) => sum + size, 0),
  };
}

/** p50 and p99, in columns. */
function quantiles(values: number[], most: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
  const mark = at(0.99) > most ? "!" : " ";
  return `${at(0.5).toFixed(0).padStart(5)} ${at(0.99).toFixed(0).padStart(5)}${mark}`;
}

async function measure(url: string, pid: number, example: Example): Promise<void> {
  await load(url, example);
  const cpuBeforeUs = ownCpuUs(pid);
  const loads: Load[] = [];
  for (let n = 0; n < times; n++) loads.push(await load(url, example));
  const cpuMs = (ownCpuUs(pid) - cpuBeforeUs) / 1_000 / times;
  const { status, pageBytes, assetBytes } = loads[0]!;
  console.log(
    [
      example.name.padEnd(52),
      status,
      quantiles(
        loads.map(({ firstByteMs }) => firstByteMs),
        LIMITS.firstByteMs,
      ),
      quantiles(
        loads.map(({ completeMs }) => completeMs),
        LIMITS.completeMs,
      ),
      cpuMs.toFixed(0).padStart(5),
      String(pageBytes).padStart(7),
      `${String(assetBytes).padStart(7)}${assetBytes > LIMITS.assetBytes ? "!" : " "}`,
    ].join("  "),
  );
}

const WATCHED_SECONDS = 20;
const VIEWERS = 5;

/** Requests as htmx sends them: each viewer every five seconds. */
async function watch(url: string, pid: number, example: Example): Promise<void> {
  const endMs = performance.now() + WATCHED_SECONDS * 1_000;
  const viewer = async (n: number) => {
    await new Promise((done) => setTimeout(done, n * 1_000));
    while (performance.now() < endMs) {
      await (
        await fetch(`${url}/app/${example.path}`, { headers: { cookie: example.cookie, ...ZIPPED } })
      ).arrayBuffer();
      await new Promise((done) => setTimeout(done, 5_000));
    }
  };
  const idleFrom = ownCpuUs(pid);
  await new Promise((done) => setTimeout(done, WATCHED_SECONDS * 1_000));
  const idleUs = ownCpuUs(pid) - idleFrom;
  const before = ownCpuUs(pid);
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: VIEWERS }, (_, n) => viewer(n)));
  const seconds = (performance.now() - startedMs) / 1_000;
  const us = ownCpuUs(pid) - before - (idleUs / WATCHED_SECONDS) * seconds;
  const percent = (us / 1_000_000 / seconds / VIEWERS) * 100;
  console.log(`${example.name}: each of ${VIEWERS} viewers takes ${percent.toFixed(2)} % of a core`);
}

async function measureAll(url: string, pid: number, company: string): Promise<void> {
  const owner = await signIn(url, "login", OWNER);
  const operator = await signInAsOperator(url);
  const examples = [...(await pagesOf(company, owner, operator)), ...(await examplesOf(company, owner, people))];
  console.log(`${"page".padEnd(52)}  how  first byte     complete      CPU     page   assets`);
  for (const example of examples) await measure(url, pid, example);
  await watch(url, pid, { name: "operator (live)", path: "operator", cookie: operator });
}

async function main(): Promise<void> {
  const folder = dataFolder();
  const postgres = process.env.DATABASE_URL ? undefined : await startEmbeddedPostgres(folder.path);
  const databaseUrl = process.env.DATABASE_URL ?? postgres!.url;
  let child: ChildProcess | undefined;
  try {
    const [service, url] = await startService(databaseUrl, folder.path);
    child = service;
    openDatabase(databaseUrl, 2);
    await measureAll(url, child.pid!, await companyOf(url));
  } finally {
    await closeDatabase();
    child?.kill("SIGKILL");
    await postgres?.stop();
    folder.remove();
  }
}

if (process.argv[2] === "serve") process.send!((await startServices([...API_SERVICES, "console", "operator"])).url);
else await main();
