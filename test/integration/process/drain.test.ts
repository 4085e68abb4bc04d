/** SIGTERM, as a rolling update sends it: what is in the air is finished, within DRAIN_SECONDS. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join, resolve } from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { apiAt, type Send } from "../../demo/api.ts";
import type { Child } from "../../support/child.ts";
import { startAsFirst } from "../../support/container.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { node, type ServiceProcess, startService } from "../../support/service-process.ts";
import { startSmtpServer } from "../../support/smtp-server.ts";

const ROOT = resolve(import.meta.dirname, "../../..");

jest.setTimeout(120_000);

describe("a service with something in the air", () => {
  let database: TestDatabase;
  let service: ServiceProcess;
  let api: Send;
  let key: string;

  beforeEach(async () => {
    database = await createDatabase();
    service = await startService({
      env: {
        DATABASE_URL: database.url,
        SECRET_KEY: "test-secret-test-secret-test-secret",
        ALLOW_PRIVATE_NETWORKS: "true",
        LOGLEVEL: "warn",
      },
    });
    await service.ready();
    const { company, access } = await apiAt(service.url)<{ company: { id: string }; access: string }>(
      "POST",
      "/api/auth/register/",
      { email: "ann@example.com", password: "a long password", company_name: "Lantern Books" },
    );
    const bearer = apiAt(service.url, { authorization: `Bearer ${access}` });
    key = (await bearer<{ key: string }>("POST", `/api/companies/${company.id}/api-keys/`, { name: "test" })).key;
    api = apiAt(service.url, { "x-api-key": key });
  });
  afterEach(async () => {
    service.child.signal("SIGKILL");
    await service.child.ended;
    await database.drop();
  });

  const isReady = () =>
    fetch(`${service.healthUrl}/ready`).then(
      ({ ok }) => ok,
      () => false,
    );

  /** Resolves once the process has heard the signal. */
  async function untilDraining(): Promise<void> {
    while (await isReady()) await sleep(20);
  }

  /** A mail whose final dot has arrived at a server that takes its time to answer it, or never does. */
  async function handOver({ answerAfterMs }: { answerAfterMs?: number }) {
    const { promise: handedOver, resolve: arrived } = Promise.withResolvers<void>();
    const smtp = await startSmtpServer({
      delayMs: { DOT: answerAfterMs ?? 0 },
      answer({ verb }) {
        if (verb !== "DOT") return undefined;
        arrived();
        return answerAfterMs === undefined ? { hang: true } : undefined;
      },
    });
    const server = { host: "127.0.0.1", port: smtp.port, username: "", password: "", use_tls: false };
    const { id } = await api<{ id: string }>("POST", "/api/emails/smtp-configs/", {
      name: "Slow",
      sender_email: "news@lantern.example",
      ...server,
    });
    const mail = { name: "Books", subject: "Hi", body: "<p>Hi</p>", receivers: [{ email: "zoe@example.org" }] };
    await api("POST", "/api/emails/send/custom/", { ...mail, smtp_config_id: id });
    await handedOver;
    return smtp;
  }

  test("an upload over a slow line is finished, a mail whose server takes its time is in doubt for nobody", async () => {
    const smtp = await handOver({ answerAfterMs: 7_000 });
    const rows = Array.from({ length: 60 }, (_, n) => `reader${n}@example.com\n`);
    const head = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nemail\n';
    const post = request(`${service.url}/api/emails/subscribers/bulk/`, {
      method: "POST",
      headers: { "X-API-Key": key, "Content-Type": "multipart/form-data; boundary=x" },
    });
    const answered = once(post, "response");
    post.write(head);
    service.child.signal("SIGTERM");
    await untilDraining();
    // Longer than an interactive stop takes.
    for (const row of rows) {
      post.write(row);
      await sleep(100);
    }
    post.end("\r\n--x--\r\n");
    const [response] = await answered;
    expect(response.statusCode).toBe(201);
    expect(await json(response)).toMatchObject({ total: 60, created: 60, skipped: 0 });
    expect(await service.child.ended).toBe(0);
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const { rows: campaigns } = await client.query("select sent_count, failed_count from campaigns");
    await client.end();
    expect(campaigns).toEqual([{ sent_count: 1, failed_count: 0 }]);
    expect(smtp.accepted).toBe(1);
    await smtp.stop();
  });

  test("a second Ctrl-C ends it at once", async () => {
    const smtp = await handOver({});
    service.child.signal("SIGINT");
    await untilDraining();
    await sleep(1_500);
    service.child.signal("SIGINT");
    expect(await service.child.ended).toBe(130);
    await smtp.stop();
  });
});

describe("process 1 of a container", () => {
  const [shell, script, ...program] = JSON.parse(
    /^ENTRYPOINT (.*)$/m.exec(readFileSync(join(ROOT, "Dockerfile"), "utf8"))![1]!,
  ) as string[];
  const FIRST = [script!];

  const read = (path: string) => {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return "";
    }
  };

  /** SIGTERM is the 15th bit of the signals that a process handles. */
  const handlesTerm = (pid: number) =>
    ((BigInt(`0x${/^SigCgt:\s*([0-9a-f]+)$/m.exec(read(`/proc/${pid}/status`))?.[1] ?? "0"}`) >> 14n) & 1n) === 1n;

  /** The process that `unshare` started, as soon as it handles SIGTERM. */
  async function firstProcess({ pid, running, output }: Child): Promise<number> {
    for (;;) {
      const first = Number(read(`/proc/${pid}/task/${pid}/children`).trim());
      if (first && read(`/proc/${first}/cmdline`).includes(script!) && handlesTerm(first)) return first;
      if (!running()) throw new Error(`It did not start:\n${output()}`);
      await sleep(1);
    }
  }

  let child: Child;
  afterEach(async () => {
    child.signal("SIGKILL");
    await child.ended;
  });

  test("ends with 0 on a SIGTERM that comes before anything is loaded", async () => {
    const args = [...FIRST, node, ...program.slice(1), "services/**/*.service.ts"];
    // Whoever waits for a database that is not there has missed the signal.
    const env = { DATABASE_URL: "postgres://127.0.0.1:1/none", SECRET_KEY: "0123456789abcdef", HEALTH_PORT: "0" };
    child = startAsFirst(shell!, args, { cwd: ROOT, env: { ...env, PORT: "0" } });
    process.kill(await firstProcess(child), "SIGTERM");
    expect({ code: await child.ended, output: child.output() }).toMatchObject({
      code: 0,
      output: expect.not.stringContaining("starting"),
    });
  });

  test("says of a program that was killed by somebody else's SIGTERM that it was", async () => {
    child = startAsFirst(shell!, [
      ...FIRST,
      node,
      "-e",
      "process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1e3)",
    ]);
    expect(await child.ended).toBe(143);
  });

  test("passes each SIGTERM on, waits for its program and ends with its code", async () => {
    const code = `let n = 0; process.on("SIGTERM", () => { console.log("heard", ++n); if (n === 2) process.exit(7); });
      console.log("up"); setInterval(() => {}, 1000);`;
    child = startAsFirst(shell!, [...FIRST, node, "-e", code], { cwd: ROOT });
    const first = await firstProcess(child);
    for (const said of ["up", "heard 1"]) {
      while (!child.output().includes(said)) await sleep(10);
      process.kill(first, "SIGTERM");
    }
    expect(await child.ended).toBe(7);
  });
});
