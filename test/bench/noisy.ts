/**
 * What one company's heavy requests cost another: `node test/bench noisy [people=200000] [seconds=6] [word …]`. Each kind of
 * noisy-kinds.ts (with words: those that have one of them in their name) is sent at full speed beside the ordinary
 * requests of a second company, at a steady pace. Prints p50 and p99 of these in silence and in noise, their answers other
 * than 2xx, what the noisy company was answered, and who took the CPU meanwhile. The aim: p99 below three times the quiet
 * one, and no 5xx.
 *
 * One process with all services, PostgreSQL, mail server and both clients share the machine.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { dataFolder, startService } from "../support/service-process.ts";
import { startSmtpServer } from "../support/smtp-server.ts";
import { cpuUs, ownCpuUs, postmasterOf, threadsUs } from "./cpu.ts";
import { ask, KINDS, type NoisyWorld } from "./noisy-kinds.ts";
import { percentile } from "./percentile.ts";
import { serviceProcess } from "./resources.ts";

const NOISE = "noise";
/** Not the process that measures: its own mails would make it late. */
const SINK = "sink";
const PER_SECOND = 25;
/** From its first request on, not from the start of its process, which takes half of that. */
const BEGIN_MS = 1_000;
const BEGUN = "begun";
const WARM_UP_SECONDS = 2;
/** What the noisy company asked for last may wait ten seconds for its turn: the next kind must not stand behind it. */
const PAUSE_MS = 12_000;
/** Nor beside newsletters that it started, or what they leave to be done: so little CPU in a second means that all of it is over. */
const AT_REST = 0.1;
const MAX_PAUSE_MS = 600_000;
const QUIET_PEOPLE = 2_000;

type Statuses = Record<string, number>;

/** In a process of its own, so that it takes no time from the one that measures. */
async function makeNoise(): Promise<void> {
  let over = false;
  const statuses: Statuses = {};
  // The bench was ended: there is nobody to measure beside.
  process.on("disconnect", () => process.exit());
  process.on("message", ({ world, name }: { world?: NoisyWorld; name: string }) => {
    if (!world) {
      over = true;
      process.send!(statuses);
      return;
    }
    const { atOnce, ask: askOne } = KINDS[name]!;
    let n = 0;
    for (let line = 0; line < atOnce; line++) {
      (async () => {
        while (!over) {
          const status = await askOne(world, n++).catch(() => 0);
          statuses[status] = (statuses[status] ?? 0) + 1;
        }
      })();
    }
    process.send!(BEGUN);
  });
}

async function runSink(): Promise<void> {
  const sink = await startSmtpServer({ keep: false });
  process.send!(sink.port);
  await once(process, "disconnect");
  await sink.stop();
}

async function startSink(): Promise<{ port: number; stop: () => void }> {
  const child = fork(import.meta.filename, [SINK]);
  const [port] = (await once(child, "message")) as [number];
  return { port, stop: () => child.disconnect() };
}

interface Noise {
  pid: number;
  end(): Promise<Statuses>;
}

async function startNoise(world: NoisyWorld, name: string): Promise<Noise> {
  const child: ChildProcess = fork(import.meta.filename, [NOISE]);
  child.send({ world, name });
  await once(child, "message");
  const end = async () => {
    child.send({ name });
    const [statuses] = (await once(child, "message")) as [Statuses];
    child.kill("SIGKILL");
    await once(child, "exit");
    return statuses;
  };
  return { pid: child.pid!, end };
}

interface Campaign {
  id: string;
  /** Who stopped it. */
  error: string | null;
}

/** Stops the newsletters that the noisy company started, and waits until nothing is left to do. */
async function rest({ service, postmaster }: Scene, noisy: NoisyWorld): Promise<void> {
  const endMs = performance.now() + MAX_PAUSE_MS;
  await sleep(PAUSE_MS);
  // Both at each look: what is stopped while it is pending ends only after others that still send.
  const underWay = async () => {
    const pages = ["pending", "sending"].map((status) =>
      ask(noisy, "GET", `campaigns/?status=${status}&page_size=100`),
    );
    return (await Promise.all(pages)).flatMap(({ json }) => (json as unknown as { results: Campaign[] }).results);
  };
  for (;;) {
    const campaigns = await underWay();
    if (campaigns.length === 0 || performance.now() > endMs) break;
    // Those that ended meanwhile refuse.
    for (const { id, error } of campaigns) if (!error) await ask(noisy, "POST", `campaigns/${id}/stop/`);
    await sleep(500);
  }
  const usedUs = () => cpuUs(service) + cpuUs(postmaster);
  for (;;) {
    const [beforeUs, beganMs] = [usedUs(), performance.now()];
    await sleep(1_000);
    const share = (usedUs() - beforeUs) / 1_000 / (performance.now() - beganMs);
    if (share < AT_REST || performance.now() > endMs) return;
  }
}

/** Who takes the time of the cores, in hundredths of one: what the clients take, the service has elsewhere. */
function cpuOf({ service, postmaster }: Scene, noise?: number): () => string {
  const now = () => ({
    ...threadsUs(service),
    postgres: cpuUs(postmaster),
    noise: noise === undefined ? 0 : ownCpuUs(noise),
    bench: ownCpuUs(process.pid),
  });
  const before = now();
  const beganMs = performance.now();
  return () => {
    const after = now();
    const us = (performance.now() - beganMs) * 1_000;
    const share = (of: keyof typeof after) => `${of} ${Math.round(((after[of] - before[of]) * 100) / us)}`;
    return (Object.keys(after) as (keyof typeof after)[]).map(share).join(", ");
  };
}

interface Measured {
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  wrong: Statuses;
}

/** Ordinary requests at a steady pace, each timed from when it was due. */
async function ordinary(world: NoisyWorld, seconds: number): Promise<Measured> {
  const requests: (readonly [string, string, unknown?])[] = [
    ["GET", "lists/"],
    ["GET", `subscribers/${world.subscribers[0]}/`],
    ["GET", "subscribers/?page=3"],
    ["POST", "subscribers/", { email: "same@quiet.example", first_name: "Same" }],
    ["GET", "campaigns/"],
    ["GET", `campaigns/${world.campaign}/analytics/`],
    ["GET", `segments/${world.segment}/`],
    ["GET", "subscribers/?search=reader77"],
    ["GET", "sent-emails/"],
    ["PATCH", `lists/${world.list}/`, { name: "Readers" }],
    ["POST", `templates/${world.template}/preview/`, {}],
    [
      "POST",
      "send/custom/",
      {
        name: "Receipt",
        smtp_config_id: world.smtp,
        subject: "S",
        body: "<p>B</p>",
        is_transactional: true,
        receivers: [{ email: "reader1@quiet.example" }],
      },
    ],
  ];
  const timesMs: number[] = [];
  const wrong: Statuses = {};
  const began = performance.now();
  const one = async (n: number) => {
    const dueMs = began + (n * 1_000) / PER_SECOND;
    await sleep(Math.max(0, dueMs - performance.now()));
    const [method, path, body] = requests[n % requests.length]!;
    const { status } = await ask(world, method, path, body).catch(() => ({ status: 0 }));
    timesMs.push(performance.now() - dueMs);
    if (status < 200 || status > 299)
      wrong[`${status} ${path.replace(/[0-9a-f-]{36}/, "…")}`] =
        (wrong[`${status} ${path.replace(/[0-9a-f-]{36}/, "…")}`] ?? 0) + 1;
  };
  await Promise.all(Array.from({ length: seconds * PER_SECOND }, (_, n) => one(n)));
  const sorted = timesMs.toSorted((a, b) => a - b);
  return {
    p50Ms: percentile(sorted, 0.5),
    p95Ms: percentile(sorted, 0.95),
    p99Ms: percentile(sorted, 0.99),
    wrong,
  };
}

interface Scene {
  url: string;
  database: pg.Client;
  smtpPort: number;
  service: number;
  postmaster: number;
}

async function newWorld({ url, database, smtpPort }: Scene, name: string, people: number): Promise<NoisyWorld> {
  const bare = { url, key: "" };
  const must = async (world: typeof bare, path: string, body: object, method = "POST") => {
    const { status, json } = await ask(world, method, path, body);
    if (status > 299) throw new Error(`${path}: ${status} ${JSON.stringify(json)}`);
    return json as { id: string; key: string; access: string; company: { id: string } };
  };
  const account = { email: `${name}@example.com`, password: "a long password", company_name: name };
  const { company, access } = await must(bare, "/api/auth/register/", account);
  const made = await fetch(`${url}/api/companies/${company.id}/api-keys/`, {
    method: "POST",
    headers: { Authorization: `Bearer ${access}`, "Content-Type": "application/json" },
    body: JSON.stringify({ name: "bench" }),
  });
  const world = { url, key: ((await made.json()) as { key: string }).key };
  const { id: list } = await must(world, "lists/", { name: "All" });
  await database.query(
    `with made as (
       insert into subscribers (company_id, email, first_name, last_name, attributes)
       select $1, 'reader' || n || $4 || '.example', 'First' || n % 1000, 'Last' || n, jsonb_build_object('city', 'City ' || n % 100)
       from generate_series(1, $3::int) n returning id)
     insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from made`,
    [company.id, list, people, `@${name}`],
  );
  const smtp = await must(world, "smtp-configs/", {
    ...{ name: "Sink", host: "127.0.0.1", port: smtpPort, username: "", password: "", use_tls: false },
    sender_email: `news@${name}.example`,
  });
  const loop = "<ul>[[#each items]]<li>[[this.name]]</li>[[/each]]</ul>";
  const template = await must(world, "templates/", { name: "T", subject: "S", body: `<p>[[first_name]]</p>${loop}` });
  const conditions = Array.from({ length: name === "noisy" ? 50 : 2 }, (_, n) => ({
    field: n % 2 ? "email" : "attributes.city",
    operator: "contains",
    value: `nothing${n}`,
  }));
  const segment = await must(world, "segments/", { name: "S", rules: { match: "any", conditions } });
  const campaign = await must(world, "send/to-list/", {
    ...{ name: "C", template_id: template.id, smtp_config_id: smtp.id, list_id: list },
  });
  for (;;) {
    const { rows } = await database.query("select status from campaigns where id = $1", [campaign.id]);
    if (rows[0].status === "completed") break;
    await sleep(200);
  }
  const some = "select id from subscribers where company_id = $1 limit 5000";
  const { rows } = await database.query<{ id: string }>(some, [company.id]);
  return {
    ...world,
    companyId: company.id,
    list,
    smtp: smtp.id,
    template: template.id,
    segment: segment.id,
    campaign: campaign.id,
    subscribers: rows.map(({ id }) => id),
  };
}

const line = (...cells: (string | number)[]) =>
  console.log(cells.map((cell, n) => (n === 0 ? String(cell).padEnd(30) : String(cell).padStart(9))).join(""));

async function measure(scene: Scene, people: number, seconds: number, words: readonly string[]): Promise<void> {
  const quiet = await newWorld(scene, "quiet", QUIET_PEOPLE);
  const noisy = await newWorld(scene, "noisy", people);
  await scene.database.query("vacuum analyze");
  await ordinary(quiet, seconds);
  line("beside", "p50 ms", "p95 ms", "p99 ms", "x p99", "wrong");
  const silent = cpuOf(scene);
  const silence = await ordinary(quiet, 2 * seconds);
  line(
    "nothing",
    silence.p50Ms.toFixed(0),
    silence.p95Ms.toFixed(0),
    silence.p99Ms.toFixed(0),
    "1.0",
    JSON.stringify(silence.wrong),
  );
  console.log(`  CPU %: ${silent()}`);
  const chosen = Object.keys(KINDS).filter((name) => words.length === 0 || words.some((word) => name.includes(word)));
  for (const name of chosen) {
    // While the noise before came to rest nobody previewed anything, and the thread for it ended. Its start is no noise.
    await ordinary(quiet, WARM_UP_SECONDS);
    const noise = await startNoise(noisy, name);
    await sleep(BEGIN_MS);
    const cpu = cpuOf(scene, noise.pid);
    const { p50Ms, p95Ms, p99Ms, wrong } = await ordinary(quiet, seconds);
    const took = cpu();
    const answered = await noise.end();
    const times = (p99Ms / silence.p99Ms).toFixed(1);
    line(
      name,
      p50Ms.toFixed(0),
      p95Ms.toFixed(0),
      p99Ms.toFixed(0),
      times,
      JSON.stringify(wrong),
      `   ${JSON.stringify(answered)}`,
    );
    console.log(`  CPU %: ${took}`);
    if (name !== chosen.at(-1)) await rest(scene, noisy);
  }
}

async function main(): Promise<void> {
  const [people = "200000", seconds = "6", ...words] = process.argv.slice(2);
  const endings: (() => unknown)[] = [];
  try {
    const folder = dataFolder();
    endings.push(folder.remove);
    const postgres = await startEmbeddedPostgres(folder.path, { max_connections: 100 });
    endings.push(postgres.stop);
    const sink = await startSink();
    endings.push(sink.stop);
    const service = await startService({
      env: {
        DATABASE_URL: postgres.url,
        SECRET_KEY: "bench-secret-bench-secret",
        ALLOW_PRIVATE_NETWORKS: "true",
        LOGLEVEL: "error",
        TRUST_PROXY: "1",
        REGISTRATION: "open",
      },
    });
    endings.push(() => service.child.stop());
    await service.ready();
    const database = new pg.Client({ connectionString: postgres.url });
    await database.connect();
    endings.push(() => database.end());
    const pids = {
      service: serviceProcess(service.child.pid),
      postmaster: postmasterOf(join(folder.path, "postgres")),
    };
    const scene = { url: service.url, database, smtpPort: sink.port, ...pids };
    await measure(scene, Number(people), Number(seconds), words);
  } finally {
    for (const end of endings.reverse()) await end();
  }
}

if (process.argv[2] === NOISE) await makeNoise();
else if (process.argv[2] === SINK) await runSink();
else await main();
