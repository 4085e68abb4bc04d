/**
 * What pages of the console cost in a large company: `node test/bench console [people=1000000] [mails=10000000] [times=20]`.
 *
 * Prints the time to the first byte of each page (p50, p99 of so many requests, one after the other, after one that warms
 * up) and its size. DATABASE_URL names a database that is filled the first time and kept; without it one is made and removed.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { closeDatabase, openDatabase, query, queryOne } from "../../models/database/db.ts";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { dataFolder } from "../support/service-process.ts";
import { fillCompany } from "./large-company.ts";

const numbers = process.argv.slice(2).map(Number);
const [people = 1_000_000, mails = 10_000_000, times = 20] = numbers;
const OWNER = { email: "bench@example.com", password: "correct horse battery" };
const SERVICES = [
  "gateway",
  "accounts",
  "subscribers",
  "campaigns",
  "renderer",
  "tracking",
  "webhooks",
  "bounces",
  "smtp-sender",
  "console",
];

async function serve(): Promise<void> {
  const { ServiceBroker } = await import("moleculer");
  const { brokerOptions } = await import("../../moleculer.config.ts");
  const { config } = await import("../../services/lib/config.ts");
  const broker = new ServiceBroker(brokerOptions(config()));
  for (const name of SERVICES) {
    broker.createService((await import(`../../services/${name}/${name}.service.ts`)).default);
  }
  await broker.start();
  process.send!((broker.getLocalService("gateway") as unknown as { url: string }).url);
}

async function startService(databaseUrl: string): Promise<[ChildProcess, string]> {
  const env = {
    DATABASE_URL: databaseUrl,
    HOST: "127.0.0.1",
    SECRET_KEY: "bench-secret-bench-secret-bench-secret",
    REGISTRATION: "open",
    DNS_SERVERS: "127.0.0.1:9",
    PORT: "0",
    HEALTH_PORT: "0",
    LOGLEVEL: "error",
  };
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

async function signIn(url: string): Promise<string> {
  const page = await fetch(`${url}/app/login`);
  const [, token] = /name="csrf-token" content="([^"]+)"/.exec(await page.text())!;
  const body = new URLSearchParams({ form_token: token!, ...OWNER });
  const headers = { cookie: cookieIn(page) };
  return cookieIn(await fetch(`${url}/app/login`, { method: "POST", body, headers, redirect: "manual" }));
}

async function pagesOf(company: string): Promise<string[]> {
  const list = (await queryOne<{ id: string }>("select id from lists where company_id = $1 and name = 'Interest 3'", [
    company,
  ]))!.id;
  const person = (await queryOne<{ id: string; email: string }>(
    "select id, email from subscribers where company_id = $1 order by id desc offset 1234 limit 1",
    [company],
  ))!;
  const last = Math.ceil(people / 25);
  const asked = (query: Record<string, string>) => `subscribers?${new URLSearchParams(query)}`;
  return [
    "subscribers",
    asked({ page: "2" }),
    asked({ page: `${last}` }),
    asked({ search: person.email }),
    asked({ search: person.email.slice(2, -3) }),
    asked({ search: "lovelace" }),
    asked({ search: "ada lovel" }),
    asked({ search: "acme.example" }),
    asked({ search: "nobody-at-all" }),
    asked({ search: "zo" }),
    asked({ status: "active" }),
    asked({ status: "active", page: "500" }),
    asked({ status: "complained" }),
    asked({ status: "unsubscribed", page: "500" }),
    asked({ list }),
    asked({ list, page: "500" }),
    asked({ list, status: "active" }),
    asked({ list, status: "complained" }),
    asked({ list, status: "bounced", search: "grace" }),
    `subscribers/${person.id}`,
    "lists",
    "suppressions",
    "suppressions?search=lovelace",
  ];
}

async function measure(url: string, company: string): Promise<void> {
  const cookie = await signIn(url);
  for (const page of await pagesOf(company)) {
    const tookMs: number[] = [];
    let bytes = 0;
    let status = 0;
    for (let n = 0; n <= times; n++) {
      const startedMs = performance.now();
      const response = await fetch(`${url}/app/${company}/${page}`, { headers: { cookie } });
      if (n > 0) tookMs.push(performance.now() - startedMs);
      bytes = (await response.arrayBuffer()).byteLength;
      status = response.status;
    }
    tookMs.sort((a, b) => a - b);
    const at = (share: number) => tookMs[Math.min(tookMs.length - 1, Math.floor(share * tookMs.length))]!.toFixed(0);
    const name = page.replaceAll(/[0-9a-f-]{36}/g, "id");
    console.log(
      `${name.padEnd(60)} ${status}  p50 ${at(0.5).padStart(5)} ms  p99 ${at(0.99).padStart(5)} ms  ${bytes} bytes`,
    );
  }
}

async function main(): Promise<void> {
  const folder = dataFolder();
  const postgres = process.env.DATABASE_URL ? undefined : await startEmbeddedPostgres(folder.path);
  const databaseUrl = process.env.DATABASE_URL ?? postgres!.url;
  let child: ChildProcess | undefined;
  try {
    const [service, url] = await startService(databaseUrl);
    child = service;
    openDatabase(databaseUrl, 2);
    await measure(url, await companyOf(url));
  } finally {
    await closeDatabase();
    child?.kill("SIGKILL");
    await postgres?.stop();
    folder.remove();
  }
}

await (process.argv[2] === "serve" ? serve() : main());
