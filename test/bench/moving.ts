/**
 * Measures import and export over HTTP, and their effect on another company.
 *
 *     node test/bench moving [rows=200000]
 *
 * Imports a file of that many people into a list, twice, and exports all people and those of the list. Prints rows per
 * second, rows per CPU second (service and PostgreSQL, with µs per row), time to first byte, the service's peak memory,
 * and p50 and p99 of the other company's requests with the ratio to an idle service. One process with all services,
 * PostgreSQL and both clients share the machine.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, openAsBlob, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { dataFolder, startService } from "../support/service-process.ts";
import { ask } from "./ask.ts";
import { cpuUs, postmasterOf } from "./cpu.ts";

const ROLE = "neighbour";
const PER_SECOND = 40;
const SILENCE_MS = 8_000;
const NEIGHBOURS_PEOPLE = 2_000;
const TIMEOUT_MS = 15 * 60_000;

interface World {
  url: string;
  key: string;
  companyId: string;
  list: string;
}

interface Times {
  p50Ms: number;
  p99Ms: number;
  wrong: number;
}

/** Runs in its own process, so that the client of the large file does not slow it down. */
async function beNeighbour(world: World): Promise<void> {
  const paths = ["lists/", "subscribers/?page=3", "subscribers/?search=reader77", `lists/${world.list}/`, "campaigns/"];
  const timesMs: number[] = [];
  let wrong = 0;
  let over = false;
  process.once("message", () => {
    over = true;
  });
  process.once("disconnect", () => process.exit());
  const began = performance.now();
  const open: Promise<void>[] = [];
  for (let n = 0; !over; n++) {
    const dueMs = began + (n * 1_000) / PER_SECOND;
    await sleep(Math.max(0, dueMs - performance.now()));
    const one = async () => {
      const { status } = await ask(world, "GET", paths[n % paths.length]!).catch(() => ({ status: 0 }));
      // Measured from the scheduled time: a slow request must not hide the delay of those behind it.
      timesMs.push(performance.now() - dueMs);
      if (status !== 200) wrong++;
    };
    open.push(one());
  }
  await Promise.all(open);
  const sorted = timesMs.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)]!;
  process.send!({ p50Ms: at(0.5), p99Ms: at(0.99), wrong } satisfies Times);
  process.disconnect();
}

async function beside<T>(world: World, work: () => Promise<T>): Promise<[T, Times]> {
  const child: ChildProcess = fork(import.meta.filename, [ROLE, JSON.stringify(world)]);
  try {
    const result = await work();
    child.send("over");
    const [times] = (await once(child, "message")) as [Times];
    return [result, times];
  } finally {
    child.kill("SIGKILL");
  }
}

function* csv(rows: number) {
  yield "email,first_name,last_name,city,signup_source\n";
  for (let from = 1; from <= rows; from += 1_000) {
    let text = "";
    for (let n = from; n < from + 1_000 && n <= rows; n++) {
      text += `person.${(n * 7_919) % 1_000_000_007}@mail${n % 97}.example.com,First${n % 1_000},Last${n},City ${n % 200},form\n`;
    }
    yield text;
  }
}

async function newWorld(url: string, database: pg.Client, name: string): Promise<World> {
  const account = { email: `${name}@example.com`, password: "a long password", company_name: name };
  const { status, json } = await ask({ url, key: "" }, "POST", "/api/auth/register/", account);
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(json)}`);
  const { company, access } = json as unknown as { company: { id: string }; access: string };
  await database.query("update companies set plan = 'unlimited' where id = $1", [company.id]);
  const made = await fetch(`${url}/api/companies/${company.id}/api-keys/`, {
    method: "POST",
    headers: { Authorization: `Bearer ${access}`, "Content-Type": "application/json" },
    body: JSON.stringify({ name: "bench" }),
  });
  const { key } = (await made.json()) as { key: string };
  const list = (await ask({ url, key }, "POST", "lists/", { name: "All" })).json!.id!;
  return { url, key, companyId: company.id, list };
}

/** Peak memory of the process since the call. */
function peakOf(pid: number): () => number {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
  return () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "latin1"))![1]) / 1_024;
}

interface Machine {
  service: number;
  postgres: number;
  rows: number;
  neighbour: World;
  silence: Times;
}

async function measure(machine: Machine, name: string, work: () => Promise<number | undefined>): Promise<void> {
  const { service, postgres, rows, neighbour, silence } = machine;
  const pids = [service, postgres];
  const peak = peakOf(service);
  const before = pids.map(cpuUs);
  const began = performance.now();
  const [firstMs, times] = await beside(neighbour, work);
  const seconds = (performance.now() - began) / 1_000;
  const [node, database] = pids.map((pid, at) => (cpuUs(pid) - before[at]!) / rows) as [number, number];
  const perSecond = (n: number) => Math.round(n).toLocaleString("en").padStart(8);
  console.log(
    `${name.padEnd(22)}${perSecond(rows / seconds)} rows/s ${perSecond(1e6 / (node + database))} a CPU second (µs a row: service ` +
      `${node.toFixed(1)}, PostgreSQL ${database.toFixed(1)})   first byte ${firstMs?.toFixed(0) ?? "-"} ms   peak ${peak().toFixed(0)} MB` +
      `   other company p50 ${times.p50Ms.toFixed(0)} ms, p99 ${times.p99Ms.toFixed(0)} ms, × ${(times.p99Ms / silence.p99Ms).toFixed(1)}, wrong ${times.wrong}`,
  );
}

async function importFile({ url, key, list }: World, file: string): Promise<undefined> {
  const form = new FormData();
  form.set("file", await openAsBlob(file), "people.csv");
  form.set("list_id", list);
  const { status, json } = await ask({ url, key }, "POST", "subscribers/bulk/", form);
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(json)}`);
}

/** Reads the whole file; returns the time to the first byte. */
async function download({ url, key }: World, path: string): Promise<number> {
  const began = performance.now();
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(`${url}/api/emails/${path}`, { headers: { "X-API-Key": key }, signal });
  if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
  let firstMs: number | undefined;
  for await (const _chunk of response.body!) firstMs ??= performance.now() - began;
  return firstMs!;
}

async function main(rows: number): Promise<void> {
  const endings: (() => unknown)[] = [];
  try {
    const folder = dataFolder();
    endings.push(folder.remove);
    const server = await startEmbeddedPostgres(folder.path);
    endings.push(() => server.stop());
    const file = join(folder.path, "people.csv");
    await pipeline(Readable.from(csv(rows)), createWriteStream(file));
    const service = await startService({
      env: {
        DATABASE_URL: server.url,
        SECRET_KEY: "bench-secret-bench-secret",
        LOGLEVEL: "error",
        TRUST_PROXY: "1",
        REGISTRATION: "open",
      },
    });
    endings.push(() => service.child.stop());
    await service.ready();
    const database = new pg.Client({ connectionString: server.url });
    await database.connect();
    endings.push(() => database.end());

    const neighbour = await newWorld(service.url, database, "neighbour");
    const reader = `insert into subscribers (company_id, email) select $1, 'reader' || n || '@neighbour.example' from generate_series(1, $2::int) n`;
    await database.query(reader, [neighbour.companyId, NEIGHBOURS_PEOPLE]);
    const world = await newWorld(service.url, database, "moving");
    const pids = { service: service.child.pid, postgres: postmasterOf(join(folder.path, "postgres")) };
    await beside(neighbour, () => sleep(SILENCE_MS / 4));
    const [, silence] = await beside(neighbour, () => sleep(SILENCE_MS));
    console.log(`silence: other company p50 ${silence.p50Ms.toFixed(0)} ms, p99 ${silence.p99Ms.toFixed(0)} ms`);
    const machine = { ...pids, rows, neighbour, silence };

    await measure(machine, "import, new rows", () => importFile(world, file));
    await measure(machine, "the same file again", () => importFile(world, file));
    await measure(machine, "export of all", () => download(world, "subscribers/export/"));
    await measure(machine, "export of the list", () => download(world, `subscribers/export/?list=${world.list}`));
  } finally {
    for (const end of endings.reverse()) await end();
  }
}

if (process.argv[2] === ROLE) await beNeighbour(JSON.parse(process.argv[3]!));
else await main(Number(process.argv[2] ?? 200_000));
