import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { unusedPort } from "../../../services/lib/processes/unused-port.ts";
import { createDatabase } from "../../support/database.ts";
import { long, longTest } from "../../support/long.ts";
import { leftAfter } from "../../support/processes.ts";
import { dataFolder, node, type ProcessOptions, startService } from "../../support/service-process.ts";

/** Exit and output of the process. Starts one service by default, which costs half the CPU time of all. */
async function outcome(env: ProcessOptions["env"], services: ProcessOptions["services"] = ["operator"]) {
  const { child } = await startService({ env, services });
  const tooLong = setTimeout(() => child.signal("SIGKILL"), 50_000);
  const code = await child.ended;
  clearTimeout(tooLong);
  return { code, lines: child.output().trim().split("\n") };
}

describe("a start that must fail", () => {
  jest.setTimeout(120_000);
  const data = dataFolder();
  afterAll(() => data.remove());

  test.each(long ? ["PORT", "HEALTH_PORT"] : ["PORT"])(
    "a %s in use is refused with one line that names it",
    async (name) => {
      const server = createServer();
      await new Promise<void>((done) => server.listen(0, done));
      server.unref();
      const { port } = server.address() as { port: number };
      const { code, lines } = await outcome({ DATA_DIR: data.path, [name]: `${port}` }, ["gateway"]);
      expect(code).toBe(1);
      expect(lines).toEqual([expect.stringContaining(`port ${port} is taken by another program`)]);
      expect(lines[0]).toContain(name);
      server.close();
      expect(await leftAfter(2_000, data.path)).toEqual([]);
    },
  );

  longTest("PORT equal to HEALTH_PORT is refused with one line", async () => {
    const { code, lines } = await outcome({ DATA_DIR: data.path, PORT: "3999", HEALTH_PORT: "3999" }, ["gateway"]);
    expect({ code, lines }).toEqual({
      code: 1,
      lines: ["Flockmail cannot start: PORT and HEALTH_PORT are both 3999"],
    });
  });

  longTest("an unknown DEFAULT_PLAN is refused with one line", async () => {
    const { code, lines } = await outcome({ DATA_DIR: data.path, DEFAULT_PLAN: "gold" }, ["accounts"]);
    const message = `Flockmail cannot start: DEFAULT_PLAN is "gold", but there is no such plan. Choose one of: free, pro, starter, unlimited.`;
    expect({ code, lines }).toEqual({ code: 1, lines: [message] });
  });

  longTest("an unusable DATA_DIR is refused with one line that names it", async () => {
    const file = join(data.path, "file");
    writeFileSync(file, "");
    for (const path of [file, join(file, "below")]) {
      const { code, lines } = await outcome({ DATA_DIR: path });
      const message = [`Flockmail cannot start: cannot use ${path} (DATA_DIR): it is not a directory`];
      expect({ code, lines }).toEqual({ code: 1, lines: message });
    }
  });

  const KEY = { SECRET_KEY: "0123456789abcdef" };

  test("an unreachable PostgreSQL is waited for, then named in one line without its password", async () => {
    const port = await unusedPort();
    const DATABASE_URL = `postgres://nobody:hush@127.0.0.1:${port}/none?connect_timeout=1`;
    const { code, lines } = await outcome({ ...KEY, DATABASE_URL, LOGLEVEL: "warn" });
    expect(code).toBe(1);
    const at = `PostgreSQL at 127.0.0.1:${port} (DATABASE_URL) cannot be reached: nothing listens there.`;
    expect(lines).toEqual([
      expect.stringContaining(`${at} Waiting up to 1 s for it`),
      `Flockmail cannot start: ${at} Gave up after 1 s.`,
    ]);
    expect(lines.join()).not.toContain("hush");
  });

  longTest("a PostgreSQL that starts meanwhile is used", async () => {
    const server = new URL(process.env.TEST_SERVER_URL!);
    const database = await createDatabase();
    const port = await unusedPort();
    const late = new URL(database.url);
    late.port = `${port}`;
    const service = await startService({
      env: { ...KEY, DATABASE_URL: late.href, LOGLEVEL: "warn" },
      services: ["operator"],
    });
    while (!service.child.output().includes("Waiting up to 60 s")) await sleep(20);
    const sockets = new Set<Socket>();
    const proxy = createServer((socket) => {
      const upstream = connect(Number(server.port), server.hostname);
      for (const [one, other] of [
        [socket, upstream],
        [upstream, socket],
      ] as const) {
        one.pipe(other);
        one.on("error", () => other.destroy());
        sockets.add(one);
      }
    });
    await new Promise<void>((done) => proxy.listen(port, "127.0.0.1", done));
    await service.ready();
    await service.child.stop();
    proxy.close();
    for (const socket of sockets) socket.destroy();
    await database.drop();
  });

  longTest("a stop during the wait takes effect at once", async () => {
    const DATABASE_URL = `postgres://nobody:hush@127.0.0.1:${await unusedPort()}/none`;
    const { child } = await startService({ env: { ...KEY, DATABASE_URL, LOGLEVEL: "warn" }, services: ["operator"] });
    while (!child.output().includes("Waiting up to 60 s")) await sleep(20);
    child.signal("SIGTERM");
    expect(await child.ended).toBe(0);
  });

  longTest("a PostgreSQL that refuses is not waited for", async () => {
    const DATABASE_URL = new URL(process.env.TEST_SERVER_URL!);
    DATABASE_URL.pathname = "/there_is_none";
    const { code, lines } = await outcome({ ...KEY, DATABASE_URL: DATABASE_URL.href, LOGLEVEL: "fatal" });
    const at = `PostgreSQL at ${DATABASE_URL.host} (DATABASE_URL)`;
    expect({ code, lines }).toEqual({
      code: 1,
      lines: [`Flockmail cannot start: ${at} refuses the connection: database "there_is_none" does not exist`],
    });
  });

  test("every configuration error is reported in a line of its own", async () => {
    const { code, lines } = await outcome({ DATABASE_URL: "mysql://x", TRUST_PROXY: "many", SECRET_KEY: "" });
    expect(code).toBe(78);
    expect(lines).toHaveLength(4);
    expect(lines.join("\n")).toMatch(/DATABASE_URL must be[\s\S]*TRUST_PROXY must be[\s\S]*SECRET_KEY is required/);
  });

  test("an old Node is reported in one line", async () => {
    const old = 'data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"20.19.0"}})';
    const script = join(import.meta.dirname, "../../../services/lib/processes/node-version.js");
    const failed = await promisify(execFile)(node, ["--import", old, script]).catch((error) => error);
    expect(failed.code).toBe(1);
    expect(failed.stderr.trim().split("\n")).toEqual([expect.stringContaining("needs Node 22.18")]);
  });
});
