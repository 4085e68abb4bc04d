import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { apiAt } from "../../demo/api.ts";
import { dataFolder, type ServiceProcess, startService } from "../../support/service-process.ts";

const credentials = { email: "ann@example.com", password: "correct horse battery" };

/** Proves that the company registered before the restart is still there. */
async function logsIn(service: ServiceProcess): Promise<boolean> {
  const { companies } = await apiAt(service.url)<{ companies: unknown[] }>("POST", "/api/auth/login/", credentials);
  return companies.length === 1;
}

describe("an embedded PostgreSQL that is killed", () => {
  jest.setTimeout(120_000);

  test("is started again, and the service goes on with all data", async () => {
    const data = dataFolder();
    const service = await (await startService({ env: { DATA_DIR: data.path } })).ready();
    await apiAt(service.url)("POST", "/api/auth/register/", { ...credentials, company_name: "Kept" });
    const [pid] = readFileSync(join(data.path, "postgres/postmaster.pid"), "utf8").split("\n");
    process.kill(Number(pid), "SIGKILL");
    await sleep(300);
    await service.ready();
    expect(await logsIn(service)).toBe(true);
    await service.child.stop();
    data.remove();
  });
});

describe("a backup", () => {
  jest.setTimeout(120_000);

  test("that was copied from DATA_DIR while stopped can be started elsewhere", async () => {
    const [data, restored] = [dataFolder(), dataFolder()];
    const service = await (await startService({ env: { DATA_DIR: data.path } })).ready();
    await apiAt(service.url)("POST", "/api/auth/register/", { ...credentials, company_name: "Kept" });
    await service.child.stop();
    cpSync(data.path, restored.path, { recursive: true });
    data.remove();

    const again = await (await startService({ env: { DATA_DIR: restored.path } })).ready();
    expect(await logsIn(again)).toBe(true);
    await again.child.stop();
    restored.remove();
  });
});

describe("a restart on the same DATA_DIR", () => {
  jest.setTimeout(120_000);

  test("keeps all data, after an orderly stop and after kill -9", async () => {
    const data = dataFolder();
    const start = async () => (await startService({ env: { DATA_DIR: data.path } })).ready();

    const first = await start();
    await apiAt(first.url)("POST", "/api/auth/register/", { ...credentials, company_name: "Kept" });
    await first.child.stop();

    const second = await start();
    expect(await logsIn(second)).toBe(true);
    second.child.signal("SIGKILL");

    // At once: its database may still be shutting down.
    const third = await start();
    expect(await logsIn(third)).toBe(true);
    await third.child.stop();
    data.remove();
  });
});
