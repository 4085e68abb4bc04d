/**
 * The whole path at full speed: `node test/bench/delivery.ts [recipients=50000] [connections=20] [rounds=1]`.
 *
 * A service process of its own with an embedded PostgreSQL; the 10 KB newsletter with full tracking to a list, from the
 * POST to `completed`, into Debian's smtp-sink; beside it, in the same run, smtp-source into the same sink with the size
 * on the wire and as many connections. Prints rates, the ratio, CPU per mail, and the peak memory of the service.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { newsletter } from "../support/newsletter.ts";
import { postfixTools, startSmtpSink } from "../support/servers.ts";
import { dataFolder, type ServiceProcess, startService } from "../support/service-process.ts";

const [recipients = 50_000, connections = 20, rounds = 1] = process.argv.slice(2).map(Number);
const FIELDS = 20;
const WIRE_BYTES = 12_200;
const TICKS_PER_SECOND = 100;

interface Api {
  service: ServiceProcess;
  key: string;
}

async function request<T>(service: ServiceProcess, path: string, init: RequestInit): Promise<T> {
  const response = await fetch(service.url + path, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 500)}`);
  return JSON.parse(text) as T;
}

const json = (body: unknown, headers: Record<string, string>): RequestInit => ({
  method: "POST",
  headers: { "Content-Type": "application/json", ...headers },
  body: JSON.stringify(body),
});

const post = <T = { id: string }>({ service, key }: Api, path: string, body: unknown): Promise<T> =>
  request<T>(service, `/api/emails/${path}/`, json(body, { "X-API-Key": key }));

async function account(service: ServiceProcess): Promise<Api> {
  const registered = await request<{ access: string; company: { id: string } }>(
    service,
    "/api/auth/register/",
    json({ email: "bench@example.com", password: "bench-password", company_name: "Bench" }, {}),
  );
  const { key } = await request<{ key: string }>(
    service,
    `/api/companies/${registered.company.id}/api-keys/`,
    json({ name: "bench" }, { Authorization: `Bearer ${registered.access}` }),
  );
  return { service, key };
}

async function importList(api: Api): Promise<string> {
  const { id } = await post(api, "lists", { name: "All" });
  const fields = Array.from({ length: FIELDS }, (_, n) => `field_${n + 1}`);
  const lines = [`email,first_name,last_name,${fields.join(",")}`];
  for (let n = 1; n <= recipients; n++) {
    lines.push(
      `person.${n}@mail${n % 97}.example.com,First${n},Last${n},${fields.map((_, f) => `Value ${f} ${n % 977}`).join(",")}`,
    );
  }
  const form = new FormData();
  form.set("list_id", id);
  form.set("file", new Blob([lines.join("\n")]), "people.csv");
  await request(api.service, "/api/emails/subscribers/bulk/", {
    method: "POST",
    headers: { "X-API-Key": api.key },
    body: form,
  });
  return id;
}

/** CPU time of the service and of its PostgreSQL (its child and that one's children), in µs. */
function cpu(pid: number): { node: number; postgres: number } {
  const times = { node: 0, postgres: 0 };
  const seen: { pid: number; parent: number; used: number }[] = [];
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      // With that of children that have ended: a connection may close in mid-run.
      const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0);
      const used = (ticks / TICKS_PER_SECOND) * 1e6;
      seen.push({ pid: Number(entry), parent: Number(fields[1]), used });
    } catch {
      // It ended while we looked.
    }
  }
  const children = new Set(seen.flatMap((one) => (one.parent === pid ? [one.pid] : [])));
  for (const one of seen) {
    if (one.pid === pid) times.node += one.used;
    else if (children.has(one.pid) || children.has(one.parent)) times.postgres += one.used;
  }
  return times;
}

/** From now on the peak is that of sending: the import and the password's hash have had theirs. */
const forgetPeak = (pid: number) => writeFileSync(`/proc/${pid}/clear_refs`, "5");
const peakMegabytes = (pid: number): number =>
  Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1_024);

/** The service itself: a launcher of ours may stand before it. */
function serviceProcess(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
  const node = children.find((child) => child > 0 && readFileSync(`/proc/${child}/comm`, "utf8").startsWith("node"));
  return node ?? pid;
}

interface Campaign {
  id: string;
  status: string;
  sent_count: number;
  failed_count: number;
}

async function send(
  api: Api,
  ids: { template: string; smtp: string; list: string },
): Promise<{ ms: number; answerMs: number }> {
  const began = performance.now();
  const campaign = await post<Campaign>(api, "send/to-list", {
    name: "Bench",
    template_id: ids.template,
    smtp_config_id: ids.smtp,
    list_id: ids.list,
  });
  const answerMs = performance.now() - began;
  for (;;) {
    await sleep(50);
    const now = await request<Campaign>(api.service, `/api/emails/campaigns/${campaign.id}/`, {
      headers: { "X-API-Key": api.key },
    });
    if (now.status === "completed") return { ms: performance.now() - began, answerMs };
    if (now.status !== "pending" && now.status !== "sending") throw new Error(JSON.stringify(now));
  }
}

async function source(url: URL): Promise<number> {
  const { source: tool } = await postfixTools();
  const args = ["-m", `${recipients}`, "-s", `${connections}`, "-l", `${WIRE_BYTES}`, "-d", "-M", "localhost"];
  const began = performance.now();
  const ended = spawnSync(tool.path, [...args, "-f", "a@example.com", "-t", "b@example.com", url.host], {
    env: { ...process.env, ...tool.env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (ended.status !== 0) throw new Error("smtp-source failed");
  return performance.now() - began;
}

const rate = (ms: number) => Math.round((recipients / ms) * 1_000);
const data = dataFolder();
const sink = await startSmtpSink();
const service = await startService({
  env: {
    DATA_DIR: data.path,
    LOGLEVEL: "warn",
    ...(process.env.BENCH_NODE_OPTIONS ? { NODE_OPTIONS: process.env.BENCH_NODE_OPTIONS } : {}),
  },
});
try {
  await service.ready();
  const api = await account(service);
  const list = await importList(api);
  const { id: template } = await post(api, "templates", { name: "Newsletter", ...newsletter() });
  const address = new URL(sink.url);
  const { id: smtp } = await post(api, "smtp-configs", {
    name: "Sink",
    host: address.hostname,
    port: Number(address.port),
    username: "",
    password: "",
    use_tls: false,
    sender_email: "news@example.com",
    max_connections: connections,
  });
  const pid = serviceProcess(service.child.pid);
  for (let round = 1; round <= rounds; round++) {
    const sourceMs = await source(address);
    forgetPeak(pid);
    const idle = peakMegabytes(pid);
    const before = cpu(pid);
    const { ms, answerMs } = await send(api, { template, smtp, list });
    const after = cpu(pid);
    const perMail = (part: "node" | "postgres") => Math.round((after[part] - before[part]) / recipients);
    console.log(
      `${recipients} recipients, ${connections} connections: ${rate(ms)} mails/s; smtp-source ${rate(sourceMs)}/s; ` +
        `ratio ${(sourceMs / ms).toFixed(2)}; POST ${Math.round(answerMs)} ms; CPU per mail: service ${perMail("node")} µs, ` +
        `Postgres ${perMail("postgres")} µs; memory ${idle} MB before, at most ${peakMegabytes(pid)} MB`,
    );
  }
} finally {
  await service.child.stop();
  await sink.stop();
  data.remove();
}
