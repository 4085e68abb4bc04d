/** The service with its own PostgreSQL in DATA_DIR: start, kill, stop and restart. */
import { execFile } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { apiAt } from "../../support/api.ts";
import { createDatabase } from "../../support/database.ts";
import { longTest } from "../../support/long.ts";
import { memoryFolder } from "../../support/memory-folder.ts";
import { leftAfter, processesNaming } from "../../support/processes.ts";
import {
  dataFolder,
  node,
  type ProcessOptions,
  type ServiceProcess,
  startService,
} from "../../support/service-process.ts";
import { startSmtpServer } from "../../support/smtp-server.ts";
import { until } from "../campaigns/world.ts";

const credentials = { email: "ann@example.com", password: "correct horse battery" };
/** The time limits of a stop add up to less than five seconds; after twenty the process ends itself. */
const STOPPED_WITHIN_MS = 15_000;

interface Login {
  access: string;
  companies: { id: string }[];
}
const logIn = (service: ServiceProcess): Promise<Login> =>
  apiAt(service.url)<Login>("POST", "/api/auth/login/", credentials);

/** Proves that the company registered before the restart still exists. */
const logsIn = async (service: ServiceProcess) => (await logIn(service)).companies.length === 1;

test("a process with MIGRATIONS=wait answers /live, and serves once another process has applied the last migration", async () => {
  const database = await createDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const last = "delete from migrations where name = (select max(name) from migrations) returning name, checksum";
  const { rows } = await client.query<{ name: string; checksum: string }>(last);
  const env = { DATABASE_URL: database.url, SECRET_KEY: "test-secret-test-secret-test-secret", MIGRATIONS: "wait" };
  const service = await startService({ by: "node", services: ["renderer"], env });
  try {
    await until(
      async () => service.child.output(),
      (output) => output.includes(`Waiting for migrations (MIGRATIONS=wait): ${rows[0]!.name}`),
    );
    expect((await fetch(`${service.healthUrl}/live`)).status).toBe(200);
    expect((await fetch(`${service.healthUrl}/ready`)).status).toBe(503);
    await client.query("insert into migrations (name, checksum) values ($1, $2)", [rows[0]!.name, rows[0]!.checksum]);
    await service.ready();
  } finally {
    await service.child.stop();
    await client.end();
    await database.drop();
  }
});

/** Sends a mail to a server that never answers its final dot; resolves once the server has the mail. */
async function handOver(service: ServiceProcess) {
  const { promise: handedOver, resolve } = Promise.withResolvers<void>();
  const smtp = await startSmtpServer({
    answer({ verb }) {
      if (verb !== "DOT") return undefined;
      resolve();
      return { hang: true };
    },
  });
  const { access, companies } = await logIn(service);
  const api = apiAt(service.url, { authorization: `Bearer ${access}` });
  const company = companies[0]!.id;
  const server = { host: "127.0.0.1", port: smtp.port, username: "", password: "", use_tls: false };
  const config = { name: "Silent", sender_email: "news@lantern.example", ...server };
  const { id } = await api<{ id: string }>("POST", `/api/emails/smtp-configs/?company=${company}`, config);
  const mail = { name: "Six books", subject: "Hi", body: "<p>Hi</p>", smtp_config_id: id };
  const receivers = Array.from({ length: 300 }, (_, i) => ({ email: `u${i}@example.com` }));
  await api("POST", "/api/emails/send/custom/", { company, ...mail, receivers });
  await handedOver;
  return smtp;
}

// Tests run in order and share a database, because creating one costs more than a start.
describe("a service with a DATA_DIR", () => {
  jest.setTimeout(120_000);
  const [data, restored] = [dataFolder(memoryFolder()), dataFolder(memoryFolder())];
  let service: ServiceProcess;

  afterAll(() => {
    for (const line of processesNaming(data.path)) process.kill(Number(line.split(" ")[0]), "SIGKILL");
    data.remove();
    restored.remove();
  });

  const start = async (options: ProcessOptions = {}, { path } = data) =>
    (await startService({ ...options, env: { DATA_DIR: path } })).ready();
  const byNpm = () => start({ by: "npm start", detached: true });

  test("prints its addresses and next steps in a few lines", async () => {
    service = await byNpm();
    const said = service.child
      .output()
      .replace(/^[\s\S]*(?=Flockmail is running)/, "")
      .trim();
    expect(said).toContain(`Console  ${service.url}/app/`);
    expect(said).toContain(`${service.url}/api/`);
    expect(said).toContain("npm run demo");
    expect(said.split("\n").length).toBeLessThan(10);
    await apiAt(service.url)("POST", "/api/auth/register/", { ...credentials, company_name: "Kept" });
  });

  test("refuses a second instance on the same folder with one line, without harm to the first", async () => {
    const { child } = await startService({ services: ["operator"], env: { DATA_DIR: data.path } });
    expect(await child.ended).toBe(1);
    const message = `Another Flockmail is running on ${data.path}`;
    expect(child.output().trim().split("\n")).toEqual([expect.stringContaining(message)]);
    expect((await fetch(`${service.healthUrl}/ready`)).status).toBe(200);
  });

  test("starts its PostgreSQL again after kill -9", async () => {
    const [pid] = readFileSync(join(data.path, "postgres/postmaster.pid"), "utf8").split("\n");
    process.kill(Number(pid), "SIGKILL");
    await sleep(300);
    await service.ready();
    expect(await logsIn(service)).toBe(true);
  });

  test("stops when npm gets SIGTERM, during a campaign and with a mail server that never answers", async () => {
    const smtp = await handOver(service);
    service.child.signal("SIGTERM");
    expect(await leftAfter(STOPPED_WITHIN_MS, data.path)).toEqual([]);
    await smtp.stop();
  });

  longTest("can be copied while stopped, and started elsewhere", async () => {
    cpSync(data.path, restored.path, { recursive: true });
    const copy = await start({}, restored);
    expect(await logsIn(copy)).toBe(true);
    await copy.child.stop();
  });

  test("can be marked as restored, keeps everything, and stops its PostgreSQL when it is killed", async () => {
    const env = { ...process.env, DATA_DIR: data.path };
    const ops = await promisify(execFile)(node, ["services/operator/ops.ts", "restored"], { env });
    expect(ops.stdout).toContain("when the service starts");
    service = await start();
    expect(await logsIn(service)).toBe(true);
    await until(
      async () => service.child.output(),
      (output) => output.includes("restored from a backup"),
    );
    service.child.signal("SIGKILL");
    expect(await leftAfter(STOPPED_WITHIN_MS, data.path)).toEqual([]);
  });

  test("keeps everything after kill -9, and stops on Ctrl-C for the whole process group", async () => {
    service = await byNpm();
    expect(await logsIn(service)).toBe(true);
    process.kill(-service.child.pid, "SIGINT");
    expect(await leftAfter(STOPPED_WITHIN_MS, data.path)).toEqual([]);
  });

  longTest("stops when npm is killed", async () => {
    service = await byNpm();
    service.child.signal("SIGKILL");
    expect(await leftAfter(STOPPED_WITHIN_MS, data.path)).toEqual([]);
  });
});
