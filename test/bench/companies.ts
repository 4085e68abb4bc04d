/**
 * Measures how one noisy company affects ten thousand others.
 *
 *     node test/bench companies [companies=10000] [seconds=30] [perSecond=5] [people=100000] [word …]
 *
 * Each other company has a mail server, a list of five people and a webhook endpoint. At a steady rate, one company
 * after the other sends a receipt, a newsletter to its list and an import of twenty rows; each receipt is opened on
 * arrival. This runs first alone, then beside a company that sends newsletters to all of its people, imports 20,000
 * rows at a time, sends receipts, and whose mails are opened on arrival, each with a webhook. Words out of
 * `newsletter`, `import` and `receipt` restrict the noise to these.
 *
 * Prints durations by company (p50, p99, worst): no company may be left out, and a p99 must stay within a second. One
 * process with all services, PostgreSQL, mail server, receiver and both clients share the machine.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { closeDatabase, openDatabase, query, queryOne } from "../../models/database/db.ts";
import { migrate } from "../../models/database/migrate.ts";
import { newKey } from "../../services/accounts/key-authentication.ts";
import { newId } from "../../services/lib/ids.ts";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { seal } from "../../services/lib/secrets.ts";
import { newSecret } from "../../services/webhooks/signature.ts";
import { dataFolder, startService } from "../support/service-process.ts";
import { startSmtpServer } from "../support/smtp-server.ts";
import { ask, someIp } from "./ask.ts";
import { cpuUs, ownCpuUs, postmasterOf } from "./cpu.ts";
import { percentile } from "./percentile.ts";
import { residentMegabytes, serviceProcess } from "./resources.ts";

const [, , role, ...rest] = process.argv;
const words = rest.slice(3);
const [companies = 10_000, seconds = 30, perSecond = 5, people = 100_000] = [role, ...rest].map(Number);
const SECRET_KEY = "bench-secret-bench-secret-bench-secret";
const READERS = 5;
const ROWS = 20;
const GIVEN_UP_MS = 60_000;
const WARM_UP = 20;
const AIM_MS = 1_000;
const SMALL = ".small.example";
const HTML = "<p>Hello [[first_name]]</p>";

const KINDS = ["answer to a receipt", "receipt", "its webhook", "webhook of its open", "newsletter", "import"] as const;
type Kind = (typeof KINDS)[number];

interface Small {
  n: number;
  url: string;
  key: string;
  list: string;
  smtp: string;
  template: string;
}

/** Received from the service: a mail with its pixel, or a webhook. */
interface Came {
  email: string;
  at: number;
  pixel?: string;
  event?: string;
}

const readerHeaders = () => ({ "User-Agent": "Mozilla/5.0 (X11; Linux x86_64)", "X-Forwarded-For": someIp() });

const pixelOf = (raw: string) =>
  /https?:[^"\s]*?\/public\/open\/[^"\s]*?\.gif/.exec(raw.replaceAll("=\r\n", "").replaceAll("=3D", "="))?.[0];

/**
 * Mail server and webhook receiver of all companies. Reads and opens each mail of the noisy company, sixteen at a time.
 */
async function outside(): Promise<void> {
  const OPENED_AT_ONCE = 16;
  const LOOK_EVERY_MS = 5;
  const sink = await startSmtpServer();
  let opening = 0;
  const open = async (pixel: string) => {
    opening++;
    await fetch(pixel, { headers: readerHeaders() })
      .then((answer) => answer.arrayBuffer())
      .catch(() => {});
    opening--;
  };
  setInterval(() => {
    const came: Came[] = [];
    for (const { to, at, raw } of sink.messages.splice(0)) {
      const email = to[0]!;
      if (email.endsWith(SMALL)) came.push({ email, at, pixel: pixelOf(raw)! });
      else if (opening < OPENED_AT_ONCE) void open(pixelOf(raw)!);
    }
    if (came.length > 0) process.send!(came);
  }, LOOK_EVERY_MS);
  const receiver = createServer((request, response) => {
    const at = Date.now();
    let body = "";
    request.setEncoding("utf8").on("data", (text) => {
      body += text;
    });
    request.on("end", () => {
      response.end();
      if (!body.includes(SMALL)) return;
      const { type: event, recipient } = JSON.parse(body) as { type: string; recipient: string };
      process.send!([{ email: recipient, at, event }]);
    });
  });
  await once(receiver.listen(0, "127.0.0.1"), "listening");
  process.send!([sink.port, (receiver.address() as AddressInfo).port]);
}

/** Everything that one company can request at full speed. */
async function noise(): Promise<void> {
  const [{ world, words }] = (await once(process, "message")) as [{ world: Small; words: string[] }];
  const counts: Record<string, number> = {};
  const forever = async (name: string, one: (n: number) => Promise<{ status: number }>) => {
    if (words.length > 0 && !words.includes(name)) return;
    for (let n = 0; ; n++) {
      const { status } = await one(n).catch(() => ({ status: 0 }));
      counts[`${name} ${status}`] = (counts[`${name} ${status}`] ?? 0) + 1;
    }
  };
  const news = { name: "News", list_id: world.list, smtp_config_id: world.smtp, template_id: world.template };
  const underWay = async () => {
    const { json } = await ask(world, "GET", "campaigns/?status=sending&page_size=10");
    return (json as { count?: number } | undefined)?.count ?? 0;
  };
  void forever("newsletter", async () => {
    while ((await underWay()) >= 2) await sleep(500);
    return ask(world, "POST", "send/to-list/", news);
  });
  const receipt = (n: number) => ({
    ...{ name: "Receipt", smtp_config_id: world.smtp, subject: "Receipt", body: HTML, is_transactional: true },
    receivers: [{ email: `buyer${n}@noisy.example` }],
  });
  for (let line = 0; line < 8; line++) {
    void forever("receipt", (n) => ask(world, "POST", "send/custom/", receipt(n * 8 + line)));
  }
  for (let line = 0; line < 3; line++) {
    void forever("import", (n) =>
      ask(world, "POST", "subscribers/bulk/", csv(world.list, 20_000, `i${line}-${n % 4}-`, "noisy.example")),
    );
  }
  process.on("message", () => process.send!(counts));
}

function csv(list: string, rows: number, name: string, domain: string): FormData {
  const form = new FormData();
  form.set("list_id", list);
  const lines = Array.from({ length: rows }, (_, n) => `${name}${n}@${domain},Ann`);
  form.set("file", new Blob([["email,first_name", ...lines].join("\n")]), "people.csv");
  return form;
}

/** Inserts companies by SQL as if registered; the first is the noisy one. */
async function fill(url: string, [smtpPort, hookPort]: readonly number[]): Promise<Small[]> {
  const made = Array.from({ length: companies }, (_, n) => {
    const [company, list, smtp, template, hook] = [newId(), newId(), newId(), newId(), newId()];
    return { n, url, company, list, smtp, template, hook, ...newKey() };
  });
  const column = <K extends keyof (typeof made)[number]>(name: K) => made.map((one) => one[name]);
  const ids = [column("company")];
  await query(
    "insert into companies (id, name, plan) select id, 'Company', 'unlimited' from unnest($1::uuid[]) id",
    ids,
  );
  await query(
    `insert into api_keys (id, company_id, name, prefix, key_hash)
     select uuid_v7(), id, 'bench', prefix, hash from unnest($1::uuid[], $2::text[], $3::bytea[]) k (id, prefix, hash)`,
    [...ids, column("prefix"), column("keyHash")],
  );
  await query(
    `insert into smtp_configs (id, company_id, name, host, port, use_tls, sender_email, max_connections)
     select smtp, id, 'Main', '127.0.0.1', $3, false, 'news@c' || n || '.example', 5
     from unnest($1::uuid[], $2::uuid[]) with ordinality s (id, smtp, n)`,
    [...ids, column("smtp"), smtpPort],
  );
  await query(
    "insert into lists (id, company_id, name) select list, id, 'Readers' from unnest($1::uuid[], $2::uuid[]) l (id, list)",
    [...ids, column("list")],
  );
  await query(
    `insert into templates (id, company_id, name, subject, body)
     select template, id, 'News', 'News', $3 from unnest($1::uuid[], $2::uuid[]) t (id, template)`,
    [...ids, column("template"), HTML],
  );
  const sealed = made.map(({ hook }) => seal(newSecret(), hook));
  await query(
    `insert into webhook_endpoints (id, company_id, url, events, secret_sealed)
     select hook, id, $4 || hook, '{delivered,opened}', sealed from unnest($1::uuid[], $2::uuid[], $3::bytea[]) w (id, hook, sealed)`,
    [...ids, column("hook"), sealed, `http://127.0.0.1:${hookPort}/`],
  );
  await query(
    `with added as (
       insert into subscribers (company_id, email, first_name)
       select c.id, 'reader' || p || '@' || case c.n when 1 then 'noisy.example' else 'c' || c.n - 1 || $4 end, 'Reader'
       from unnest($1::uuid[]) with ordinality c (id, n), generate_series(1, case c.n when 1 then $3::int else $2::int end) p
       returning id, company_id)
     insert into list_members (company_id, list_id, subscriber_id)
     select a.company_id, l.id, a.id from added a join lists l on l.company_id = a.company_id`,
    [...ids, READERS, people, SMALL],
  );
  await query("vacuum analyze");
  return made.map(({ n, list, smtp, template, key }) => ({ n, url, key, list, smtp, template }));
}

interface Scene {
  outside: ChildProcess;
  service: number;
  postmaster: number;
}

/** Waiting functions, by the event they expect. */
const expected = new Map<string, (came: Came) => void>();
const arrival = ({ n }: Small, name: string, event = "mail"): Promise<Came> => {
  const email = `${name}@c${n}${SMALL}`;
  const came = new Promise<Came>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${event} of ${email} did not come`)), GIVEN_UP_MS);
    expected.set(`${event} ${email}`, (came) => {
      clearTimeout(timer);
      resolve(came);
    });
  });
  // May be abandoned while another one is awaited.
  came.catch(() => {});
  return came;
};

async function must(company: Small, path: string, body: unknown): Promise<void> {
  const { status, json } = await ask(company, "POST", path, body);
  if (status > 299) throw new Error(`${path} of company ${company.n}: ${status} ${JSON.stringify(json)}`);
}

type Took = (kind: Kind, ms: number) => void;

async function receipt(company: Small, took: Took): Promise<void> {
  const name = "buyer";
  const [mail, delivered, opened] = [
    arrival(company, name),
    arrival(company, name, "delivered"),
    arrival(company, name, "opened"),
  ];
  const beganMs = Date.now();
  const receivers = [{ email: `${name}@c${company.n}${SMALL}` }];
  const of = { smtp_config_id: company.smtp, subject: "Receipt", body: HTML };
  await must(company, "send/custom/", { name: "Receipt", ...of, is_transactional: true, receivers });
  took("answer to a receipt", Date.now() - beganMs);
  const { at, pixel } = await mail;
  took("receipt", at - beganMs);
  took("its webhook", (await delivered).at - at);
  const openedMs = Date.now();
  await (await fetch(pixel!, { headers: readerHeaders() })).arrayBuffer();
  took("webhook of its open", (await opened).at - openedMs);
}

async function newsletter(company: Small, took: Took): Promise<void> {
  const mails = Array.from({ length: READERS }, (_, n) => arrival(company, `reader${n + 1}`));
  const beganMs = Date.now();
  const of = { smtp_config_id: company.smtp, template_id: company.template };
  await must(company, "send/to-list/", { name: "News", list_id: company.list, ...of });
  took("newsletter", Math.max(...(await Promise.all(mails)).map(({ at }) => at)) - beganMs);
}

async function imported(company: Small, took: Took): Promise<void> {
  const beganMs = Date.now();
  await must(company, "subscribers/bulk/", csv(company.list, ROWS, "new", `c${company.n}${SMALL}`));
  took("import", Date.now() - beganMs);
}

async function round(
  name: string,
  some: readonly Small[],
  { service, postmaster }: Scene,
): Promise<Record<Kind, number>> {
  const timesMs = Object.fromEntries(KINDS.map((kind) => [kind, [] as number[]])) as Record<Kind, number[]>;
  const failures: string[] = [];
  const took: Took = (kind, ms) => timesMs[kind].push(ms);
  const before = [ownCpuUs(service), cpuUs(postmaster)] as const;
  const beganMs = performance.now();
  const one = async (company: Small, n: number) => {
    await sleep(Math.max(0, beganMs + (n * 1_000) / perSecond - performance.now()));
    for (const result of await Promise.allSettled([receipt(company, took), newsletter(company, took)])) {
      if (result.status === "rejected") failures.push(String(result.reason));
    }
    // Imports last, because imported people would get the newsletter, too.
    await imported(company, took).catch((error) => failures.push(String(error)));
  };
  await Promise.all(some.map(one));
  const us = (performance.now() - beganMs) * 1_000;
  const share = (spent: number) => Math.round((spent * 100) / us);
  console.log(
    `${name}: ${some.length} companies, ${failures.length} failures, CPU service ${share(ownCpuUs(service) - before[0])}, ` +
      `PostgreSQL ${share(cpuUs(postmaster) - before[1])} of 100, ${residentMegabytes(service)} MB`,
  );
  for (const failure of failures.slice(0, 5)) console.log(`  ${failure}`);
  const p99 = {} as Record<Kind, number>;
  for (const kind of KINDS) {
    const sorted = timesMs[kind].toSorted((a, b) => a - b);
    p99[kind] = percentile(sorted, 0.99);
    const cells = [sorted.length, percentile(sorted, 0.5), p99[kind], sorted.at(-1) ?? 0];
    console.log(`  ${kind.padEnd(20)}${cells.map((cell) => String(cell).padStart(8)).join("")}`);
  }
  return p99;
}

const child = (name: string) => fork(import.meta.filename, [name]);

async function measure(scene: Scene, [noisy, ...small]: readonly Small[]): Promise<void> {
  scene.outside.on("message", (all: Came[]) => {
    for (const came of all) {
      const key = `${came.event ?? "mail"} ${came.email}`;
      expected.get(key)?.(came);
      expected.delete(key);
    }
  });
  const each = seconds * perSecond;
  const drawn = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => small[((from + n) * 7_919) % small.length]!);
  console.log("  by company             count  p50 ms  p99 ms   worst");
  await round("warm up", drawn(0, WARM_UP), scene);
  const silence = await round("alone", drawn(WARM_UP, each), scene);
  const loud = child("noise");
  loud.send({ world: noisy!, words });
  await sleep(5_000);
  const beside = await round("beside a noisy one", drawn(WARM_UP + each, each), scene);
  loud.send("counts");
  console.log(`  the noisy one's answers: ${JSON.stringify((await once(loud, "message"))[0])}`);
  const mails = await queryOne<{ n: number }>(
    "select sum(sent)::int as n from company_days where company_id = (select company_id from lists where id = $1)",
    [noisy!.list],
  );
  console.log(`  and its mails: ${mails!.n}`);
  loud.kill("SIGKILL");
  for (const kind of KINDS) {
    console.log(
      `  ${kind}: p99 x ${(beside[kind] / silence[kind]).toFixed(1)}${beside[kind] > AIM_MS ? ", over a second" : ""}`,
    );
  }
}

async function main(): Promise<void> {
  const endings: (() => unknown)[] = [];
  try {
    const folder = dataFolder();
    endings.push(folder.remove);
    const postgres = await startEmbeddedPostgres(folder.path, { max_connections: 100 });
    endings.push(postgres.stop);
    await migrate(postgres.url);
    Object.assign(process.env, { DATABASE_URL: postgres.url, SECRET_KEY });
    openDatabase(postgres.url, 3);
    endings.push(closeDatabase);
    const others = child("outside");
    endings.push(() => others.kill("SIGKILL"));
    const [ports] = (await once(others, "message")) as [number[]];
    const service = await startService({
      env: {
        DATABASE_URL: postgres.url,
        SECRET_KEY,
        ALLOW_PRIVATE_NETWORKS: "true",
        LOGLEVEL: "error",
        TRUST_PROXY: "1",
      },
    });
    endings.push(() => service.child.stop());
    const made = await fill(service.url, ports);
    await service.ready();
    const pids = {
      service: serviceProcess(service.child.pid),
      postmaster: postmasterOf(join(folder.path, "postgres")),
    };
    await measure({ outside: others, ...pids }, made);
  } finally {
    for (const end of endings.toReversed()) await end();
  }
}

// Ends a child process with the benchmark, however that ends.
if (process.send) process.once("disconnect", () => process.exit());
if (role === "outside") await outside();
else if (role === "noise") await noise();
else await main();
