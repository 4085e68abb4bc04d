/**
 * Measures the cost of many viewers of a campaign in the console while it is sent.
 *
 *     node test/bench viewers [viewers=200] [recipients=8000] [polls=200]
 *
 * One process sends to a server that takes 50 ms per mail on each of 20 connections, first without viewers, then with
 * that many streams of 20 sessions. Prints both rates, CPU per second of the process and PostgreSQL, and the addition
 * per viewer (promised: under 1 % of a core); then the CPU of one refresh of the overview's running campaigns, which a
 * page requests every 5 s.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { someIp } from "../support/client.ts";
import { dataFolder, startService } from "../support/service-process.ts";
import { type Api, type Ids, newAccount, prepare, send } from "./campaign.ts";
import { postmasterOf } from "./cpu.ts";
import { startSlowSink } from "./slow-sink.ts";
import { countCpu } from "./stack.ts";

const [viewers = 200, recipients = 8_000, polls = 200] = process.argv.slice(2).map(Number);
const CONNECTIONS = 20;
const DELAY_MS = 50;
const POLL_EVERY_MS = 5_000;
const EMAIL = "bench@example.com";
const SIGN_INS_AT_ONCE = 4;

/**
 * Viewers share sessions, because permissions are checked per session, and one sign-in costs as much CPU as hours of
 * watching.
 */
const SESSIONS = 20;

/** The session cookie, as a browser gets it. */
async function signIn(url: string): Promise<string> {
  const headers = { "x-forwarded-for": someIp() };
  const cookieOf = (answer: Response) => answer.headers.get("set-cookie")!.split(";", 1)[0]!;
  const page = await fetch(`${url}/app/login`, { headers });
  const [, form_token] = /name="csrf-token" content="([^"]+)"/.exec(await page.text())!;
  const answer = await fetch(`${url}/app/login`, {
    method: "POST",
    redirect: "manual",
    headers: { ...headers, cookie: cookieOf(page) },
    body: new URLSearchParams({ form_token: form_token!, email: EMAIL, password: "a long password" }),
  });
  if (answer.status !== 303) throw new Error(`Signing in: ${answer.status}`);
  return cookieOf(answer);
}

async function signIns(url: string, n: number): Promise<string[]> {
  const cookies: string[] = [];
  while (cookies.length < n) {
    const some = Math.min(SIGN_INS_AT_ONCE, n - cookies.length);
    cookies.push(...(await Promise.all(Array.from({ length: some }, () => signIn(url)))));
  }
  return cookies;
}

/** Reads a stream to its end, like a browser; returns the number of events. */
async function watch(address: string, cookie: string): Promise<number> {
  const answer = await fetch(address, { headers: { cookie } });
  if (answer.status !== 200) throw new Error(`${address}: ${answer.status}`);
  let events = 0;
  for await (const text of answer.body!.pipeThrough(new TextDecoderStream())) {
    events += text.split("event: progress").length - 1;
  }
  return events;
}

interface Run {
  perSecond: number;
  /** CPU time in ms per second of sending. */
  serviceMs: number;
  postgresMs: number;
}

const folder = dataFolder();
const postgres = await startEmbeddedPostgres(folder.path);
const sink = await startSlowSink(DELAY_MS);
const service = await startService({
  env: {
    DATABASE_URL: postgres.url,
    SECRET_KEY: "bench-secret-bench-secret-bench-secret",
    REGISTRATION: "open",
    ALLOW_PRIVATE_NETWORKS: "true",
    TRUST_PROXY: "1",
  },
});

async function companyOf(url: string, cookie: string): Promise<string> {
  const answer = await fetch(`${url}/app/`, { headers: { cookie }, redirect: "manual" });
  return answer.headers.get("location")!.split("/").at(-1)!;
}

/** Creates and starts the campaign. */
async function begun(api: Api): Promise<string> {
  for (;;) {
    await sleep(200);
    const address = `${api.url}/api/emails/campaigns/?status=sending`;
    const answer = await fetch(address, { headers: { "X-API-Key": api.key } });
    const { results } = (await answer.json()) as { results: { id: string }[] };
    if (results[0]) return results[0].id;
  }
}

async function sendWatched(api: Api, ids: Ids, company: string, cookies: string[]): Promise<Run> {
  const pids = { service: service.child.pid, postgres: postmasterOf(`${folder.path}/postgres`) };
  const watching: Promise<number>[] = [];
  const sending = send(api, ids);
  const id = await begun(api);
  const address = `${api.url}/app/${company}/campaigns/${id}/progress`;
  const count = cookies.length === 0 ? 0 : viewers;
  for (let n = 0; n < count; n++) watching.push(watch(address, cookies[n % cookies.length]!));
  await sleep(2_000);
  const [used, beganAt] = [countCpu(pids), performance.now()];
  const { ms } = await sending;
  const seconds = (performance.now() - beganAt) / 1_000;
  const { service: serviceUs = 0, postgres: postgresUs = 0 } = used();
  const events = await Promise.all(watching);
  if (count > 0) console.log(`each of ${count} viewers got ${Math.min(...events)} to ${Math.max(...events)} events`);
  return {
    perSecond: (recipients / ms) * 1_000,
    serviceMs: serviceUs / 1_000 / seconds,
    postgresMs: postgresUs / 1_000 / seconds,
  };
}

const described = (name: string, { perSecond, serviceMs, postgresMs }: Run) =>
  `${name}: ${Math.round(perSecond)} mails/s; in a second ${Math.round(serviceMs)} ms of the process, ${Math.round(postgresMs)} ms of PostgreSQL`;

async function pollCost(url: string, company: string, cookie: string): Promise<void> {
  const ask = async () => {
    const headers = { cookie, "x-poll": "1", "hx-request": "true" };
    const answer = await fetch(`${url}/app/${company}/campaigns/sending-now`, { headers });
    if (answer.status !== 200) throw new Error(`A refresh: ${answer.status}`);
    await answer.arrayBuffer();
  };
  for (let n = 0; n < polls; n++) await ask();
  const used = countCpu({ service: service.child.pid, postgres: postmasterOf(`${folder.path}/postgres`) });
  for (let n = 0; n < polls; n++) await ask();
  const { service: serviceUs = 0, postgres: postgresUs = 0 } = used();
  const ms = (serviceUs + postgresUs) / 1_000 / polls;
  console.log(
    `a refresh of the campaigns that are sending: ${ms.toFixed(1)} ms of CPU, every 5 s ${((100 * ms) / POLL_EVERY_MS).toFixed(2)} % of a core`,
  );
}

try {
  await service.ready();
  const api = await newAccount(service.url);
  const ids = await prepare(api, sink.url, recipients, CONNECTIONS);
  const cookies = await signIns(service.url, Math.min(viewers, SESSIONS));
  const company = await companyOf(service.url, cookies[0]!);
  await sendWatched(api, ids, company, []);
  const alone = await sendWatched(api, ids, company, []);
  console.log(described("nobody watches", alone));
  const watched = await sendWatched(api, ids, company, cookies);
  console.log(described(`${viewers} watch`, watched));
  const addedMs = watched.serviceMs + watched.postgresMs - alone.serviceMs - alone.postgresMs;
  console.log(`a viewer adds ${((100 * addedMs) / 1_000 / viewers).toFixed(3)} % of a core`);
  await pollCost(service.url, company, cookies[0]!);
} finally {
  await service.child.stop();
  sink.stop();
  await postgres.stop();
  folder.remove();
}
