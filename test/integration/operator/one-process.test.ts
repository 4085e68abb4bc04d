/** Commands against a service in one process, as a shell and a terminal see them. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { connect } from "node:net";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { query } from "../../../models/database/db.ts";
import { type App, startApp } from "../../support/app.ts";
import { dataFolder, node } from "../../support/service-process.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const OPS = "services/operator/ops.ts";

interface Ran {
  code: number;
  out: string;
  err: string;
}

describe("operators' commands in one process", () => {
  const folder = dataFolder();
  let app: App;
  beforeAll(async () => {
    app = await startApp({ services: ["operator", "accounts"], env: { DATA_DIR: folder.path } });
    await app.broker.call("accounts.createCompany", { name: "Łódź & Sons", plan: "pro" });
    // Such names may have been stored before these characters were refused, or come from a mail server's answer.
    await query("update companies set name = e'Łódź\\x1b[31m & Sons'");
  });
  afterAll(async () => {
    await app.stop();
    folder.remove();
  });

  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, HOME: folder.path, DATA_DIR: folder.path };

  const opsWith = (more: Record<string, string>, ...words: string[]) =>
    new Promise<Ran>((done) => {
      execFile(node, [OPS, ...words], { cwd: ROOT, env: { ...env, ...more }, timeout: 20_000 }, (error, out, err) =>
        // A missing code means that it was killed after the timeout.
        done({ code: error ? Number(error.code ?? -1) : 0, out, err }),
      );
    });
  const ops = (...words: string[]) => opsWith({}, ...words);

  test("output without --json is a table in which control characters of customers have no effect", async () => {
    const { out } = await ops("companies");
    expect(out).toMatch(/^id +name +plan/);
    expect(out).toContain("Łódź");
    expect(out).not.toContain("\u001b");
  });

  test("a refusal is a sentence with exit code 1; wrong usage prints the usage", async () => {
    expect(await ops("plan", "00000000-0000-0000-0000-000000000000", "pro")).toMatchObject({
      code: 1,
      err: "Not found.\n",
    });
    expect(await ops("plan")).toMatchObject({ code: 64, err: expect.stringContaining("plan <company_id> <plan>") });
    expect(await ops("companies", "--jsn")).toMatchObject({ code: 64, err: expect.stringContaining("--jsn") });
  });

  test("help lists every command", async () => {
    const { code, out } = await ops("help");
    expect(code).toBe(0);
    for (const name of ["companies", "why", "reseal", "status", "restored"])
      expect(out).toMatch(new RegExp(`^ {2}${name} `, "m"));
  });

  test("the console takes the same commands, and lists them before Moleculer's", async () => {
    const runner = "node_modules/moleculer/bin/moleculer-runner.js";
    const args = [runner, "--config", "services/operator/console.ts", "--repl"];
    const child = spawn(node, args, { cwd: ROOT, env: { ...env, TERM: "dumb" } });
    let out = "";
    const seen = new Promise<void>((done) => {
      child.stdout.on("data", (chunk: Buffer) => {
        out += chunk;
        if (/flockmail \$/.test(out)) child.stdin.write("help\ncompanies\n");
        if (/Sons/.test(out)) done();
      });
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
    await Promise.race([seen, once(child, "exit")]);
    clearTimeout(timer);
    child.kill("SIGTERM");
    expect(out).toMatch(/Łódź.* pro/);
    expect(out.indexOf("  why ")).toBeLessThan(out.indexOf("  actions "));
  });

  test("status is printed once without a terminal; doctor's exit code is the worst finding's, and problems come first", async () => {
    const [status, doctor] = await Promise.all([ops("status", "--watch"), ops("doctor")]);
    expect(status).toMatchObject({ code: 0, out: expect.stringContaining("of 1 nodes ready") });
    expect(status.out).not.toContain("\u001b");
    // Most services do not run here.
    expect(doctor).toMatchObject({
      code: 2,
      out: expect.stringMatching(/^fail {2}nodes +services +no process runs /m),
    });
    expect(doctor.out).toMatch(/^fail /);
    expect(doctor.out).not.toMatch(/^ok /m);
  });

  test("doctor without a service gives the reason and says whether it could start", async () => {
    const other = dataFolder();
    const database = { DATABASE_URL: "postgres://ops:geheim@127.0.0.1:1/db", SECRET_KEY: "x".repeat(40) };
    const { code, out } = await opsWith({ DATA_DIR: other.path, ...database }, "doctor", "--json");
    other.remove();
    const findings = JSON.parse(out) as { area: string; state: string; found: string }[];
    expect(code).toBe(2);
    const notReached = { area: "service", state: "fail", found: expect.stringMatching(/^No Flockmail runs on/) };
    expect(findings[0]).toMatchObject(notReached);
    expect(findings).toContainEqual(expect.objectContaining({ area: "PostgreSQL", state: "fail" }));
    expect(out).not.toContain("geheim");
  });

  test("an unreachable NATS is reported within seconds, without its password", async () => {
    const { code, err } = await opsWith({ TRANSPORTER: "nats://ops:geheim@127.0.0.1:1" }, "companies");
    expect({ code, err }).toEqual({ code: 1, err: "NATS does not answer at 127.0.0.1:1 (TRANSPORTER)\n" });
  });

  test("the socket is accessible to its owner only, and accepts only operators' actions", async () => {
    const path = join(folder.path, "operator.sock");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const socket = connect(path);
    socket.write(`${JSON.stringify({ action: "$node.options", params: {} })}\n`);
    const { value } = await createInterface({ input: socket })[Symbol.asyncIterator]().next();
    socket.destroy();
    expect(JSON.parse(value!).error.message).toContain("not an operator action");
  });
});
