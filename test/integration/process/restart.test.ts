import { execFile } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { apiAt } from "../../support/api.ts";
import { createDatabase } from "../../support/database.ts";
import { longTest } from "../../support/long.ts";
import { dataFolder, node, type ServiceProcess, startService } from "../../support/service-process.ts";
import { until } from "../campaigns/world.ts";

const credentials = { email: "ann@example.com", password: "correct horse battery" };

/** Proves that the company registered before the restart is still there. */
async function logsIn(service: ServiceProcess): Promise<boolean> {
  const { companies } = await apiAt(service.url)<{ companies: unknown[] }>("POST", "/api/auth/login/", credentials);
  return companies.length === 1;
}

test("with MIGRATIONS=wait a process answers /live, and serves once somebody else has applied the last one", async () => {
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

describe("what is in DATA_DIR", () => {
  jest.setTimeout(120_000);
  const [data, restored] = [dataFolder(), dataFolder()];
  afterAll(() => {
    data.remove();
    restored.remove();
  });

  const start = async ({ path } = data) => (await startService({ env: { DATA_DIR: path } })).ready();

  // They follow each other: a database is made once, and each start finds what the one before left.
  test("survives kill -9 of the embedded PostgreSQL, which is started again", async () => {
    const service = await start();
    await apiAt(service.url)("POST", "/api/auth/register/", { ...credentials, company_name: "Kept" });
    const [pid] = readFileSync(join(data.path, "postgres/postmaster.pid"), "utf8").split("\n");
    process.kill(Number(pid), "SIGKILL");
    await sleep(300);
    await service.ready();
    expect(await logsIn(service)).toBe(true);
    await service.child.stop();
  });

  longTest("can be copied while stopped, and started elsewhere", async () => {
    cpSync(data.path, restored.path, { recursive: true });
    const service = await start(restored);
    expect(await logsIn(service)).toBe(true);
    await service.child.stop();
  });

  test("is there after an orderly stop, and after kill -9; a stopped one can be marked as restored", async () => {
    const env = { ...process.env, DATA_DIR: data.path };
    const ops = await promisify(execFile)(node, ["services/operator/ops.ts", "restored"], { env });
    expect(ops.stdout).toContain("when the service starts");
    const second = await start();
    expect(await logsIn(second)).toBe(true);
    await until(
      async () => second.child.output(),
      (output) => output.includes("restored from a backup"),
    );
    second.child.signal("SIGKILL");

    // At once: its database may still be shutting down.
    const third = await start();
    expect(await logsIn(third)).toBe(true);
    await third.child.stop();
  });
});
