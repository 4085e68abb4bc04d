import { apiAt } from "../../demo/api.ts";
import { dataFolder, type ServiceProcess, startService } from "../../support/service-process.ts";

const credentials = { email: "ann@example.com", password: "correct horse battery" };

/** Proves that the company registered before the restart is still there. */
async function logsIn(service: ServiceProcess): Promise<boolean> {
  const { companies } = await apiAt(service.url)<{ companies: unknown[] }>("POST", "/api/auth/login/", credentials);
  return companies.length === 1;
}

describe("a restart on the same DATA_DIR", () => {
  jest.setTimeout(60_000);

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
