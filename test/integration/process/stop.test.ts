import { apiAt } from "../../support/api.ts";
import { longTest } from "../../support/long.ts";
import { leftAfter, processesNaming } from "../../support/processes.ts";
import { dataFolder, type ServiceProcess, startService } from "../../support/service-process.ts";
import { startSmtpServer } from "../../support/smtp-server.ts";

/**
 * The bounds that the service keeps for itself add up to less than five seconds; this leaves room for a busy machine. After
 * twenty the process would end itself, whatever is still open.
 */
const STOPPED_WITHIN_MS = 15_000;

/** One for all: making a database takes more CPU time than a start. */
const data = dataFolder();
let service: ServiceProcess;

jest.setTimeout(120_000);

afterEach(() => {
  for (const line of processesNaming(data.path)) process.kill(Number(line.split(" ")[0]), "SIGKILL");
});
afterAll(() => data.remove());

describe("a service started with node itself", () => {
  beforeEach(async () => {
    service = await (await startService({ env: { DATA_DIR: data.path } })).ready();
  });

  test("ends with code 0 on SIGTERM, also when it comes twice", async () => {
    service.child.signal("SIGTERM");
    service.child.signal("SIGTERM");
    expect(await service.child.ended).toBe(0);
    expect(await leftAfter(0, data.path)).toEqual([]);
  });

  test("takes its database with it when it is killed", async () => {
    service.child.signal("SIGKILL");
    expect(await leftAfter(STOPPED_WITHIN_MS, data.path)).toEqual([]);
  });
});

describe("a service started with npm start", () => {
  beforeEach(async () => {
    service = await startService({ by: "npm start", env: { DATA_DIR: data.path }, detached: true });
    await service.ready();
  });

  test("says where it is and what to do next, in a few lines; stops on Ctrl-C, which reaches the whole process group", async () => {
    const said = service.child
      .output()
      .replace(/^[\s\S]*(?=Flockmail is running)/, "")
      .trim();
    expect(said).toContain(`${service.url}/api/`);
    expect(said).toContain("npm run demo");
    expect(said.split("\n").length).toBeLessThan(10);
    process.kill(-service.child.pid, "SIGINT");
    expect(await leftAfter(STOPPED_WITHIN_MS, data.path)).toEqual([]);
  });

  longTest("stops when npm is killed", async () => {
    service.child.signal("SIGKILL");
    expect(await leftAfter(STOPPED_WITHIN_MS, data.path)).toEqual([]);
  });

  test("stops when npm gets SIGTERM, in mid-campaign and with a mail server that never answers", async () => {
    const { promise: handedOver, resolve } = Promise.withResolvers<void>();
    const smtp = await startSmtpServer({
      answer({ verb }) {
        if (verb !== "DOT") return undefined;
        resolve();
        return { hang: true };
      },
    });
    const account = { email: "ann@example.com", password: "a long password", company_name: "Lantern Books" };
    const { company, access } = await apiAt(service.url)<{ company: { id: string }; access: string }>(
      "POST",
      "/api/auth/register/",
      account,
    );
    const api = apiAt(service.url, { authorization: `Bearer ${access}` });
    const config = { host: "127.0.0.1", port: smtp.port, username: "", password: "", use_tls: false };
    const { id: smtp_config_id } = await api<{ id: string }>(
      "POST",
      `/api/emails/smtp-configs/?company=${company.id}`,
      {
        name: "Silent",
        sender_email: "news@lantern.example",
        ...config,
      },
    );
    await api("POST", "/api/emails/send/custom/", {
      company: company.id,
      name: "Six books",
      subject: "Hi",
      body: "<p>Hi</p>",
      smtp_config_id,
      receivers: Array.from({ length: 300 }, (_, i) => ({ email: `u${i}@example.com` })),
    });
    await handedOver;
    service.child.signal("SIGTERM");
    expect(await leftAfter(STOPPED_WITHIN_MS, data.path)).toEqual([]);
    await smtp.stop();
  });
});
