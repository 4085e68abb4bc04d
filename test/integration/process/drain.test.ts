/** SIGTERM, as in a rolling update: work in flight is finished within DRAIN_SECONDS. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { join, resolve } from "node:path";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { apiAt, type Send } from "../../support/api.ts";
import { startAsFirst } from "../../support/container.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { program } from "../../support/programs.ts";
import { node, type ServiceProcess, startService } from "../../support/service-process.ts";
import { startSmtpServer } from "../../support/smtp-server.ts";

const ROOT = resolve(import.meta.dirname, "../../..");

jest.setTimeout(120_000);

describe("a service with work in flight", () => {
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

  /** Resolves once the process has received the signal. */
  async function untilDraining(): Promise<void> {
    while (await isReady()) await sleep(20);
  }

  /** A mail whose final dot has reached a server that answers late or never. */
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

  test("finishes a slow upload, and leaves no mail to a slow server in doubt", async () => {
    const smtp = await handOver({ answerAfterMs: 7_000 });
    const rows = Array.from({ length: 60 }, (_, n) => `reader${n}@example.com\n`);
    const head = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nemail\n';
    const post = request(`${service.url}/api/emails/subscribers/bulk/`, {
      method: "POST",
      headers: { "X-API-Key": key, "Content-Type": "multipart/form-data; boundary=x" },
    });
    const answered = once(post, "response");
    post.write(head);
    // A second SIGTERM has no effect.
    service.child.signal("SIGTERM");
    service.child.signal("SIGTERM");
    await untilDraining();
    // Longer than an interactive stop.
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

  test("ends at once on a second Ctrl-C", async () => {
    const smtp = await handOver({});
    service.child.signal("SIGINT");
    await untilDraining();
    await sleep(1_500);
    service.child.signal("SIGINT");
    expect(await service.child.ended).toBe(130);
    await smtp.stop();
  });
});

test("ends with exit code 0 on a container's SIGTERM before anything is loaded", async () => {
  const entrypoint = /^ENTRYPOINT (.*)$/m.exec(readFileSync(join(ROOT, "Dockerfile"), "utf8"))![1]!;
  const [init, ...args] = JSON.parse(entrypoint) as string[];
  const { path } = await program(init!, [init!]);
  // A process that waits for a missing database has missed the signal.
  const env = {
    DATABASE_URL: "postgres://127.0.0.1:1/none",
    SECRET_KEY: "0123456789abcdef",
    HEALTH_PORT: "0",
    PORT: "0",
  };
  const child = startAsFirst(path, [...args.map((arg) => (arg === "node" ? node : arg)), "services/**/*.service.ts"], {
    cwd: ROOT,
    env,
  });
  const childOf = (pid: number) => Number.parseInt(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8"), 10);
  try {
    let first: number | undefined;
    while (!(first && childOf(first))) {
      if (!child.running()) throw new Error(`It did not start:\n${child.output()}`);
      first = childOf(child.pid);
      await sleep(1);
    }
    process.kill(first, "SIGTERM");
    expect({ code: await child.ended, output: child.output() }).toMatchObject({
      code: 0,
      output: expect.not.stringContaining("starting"),
    });
  } finally {
    child.signal("SIGKILL");
    await child.ended;
  }
});
