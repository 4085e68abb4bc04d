/**
 * A backup is made by the operator command while mail is sent; later the database is lost and restored, once with all
 * processes stopped and once while they run. Nobody gets a newsletter twice before somebody resumes it.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { type Postgres15, startPostgres15 } from "../support/postgres15.ts";
import { program } from "../support/programs.ts";
import { node, type ServiceProcess, startService } from "../support/service-process.ts";
import {
  addresses,
  type Company,
  newCompany,
  newList,
  newServer,
  type RequestedCampaign,
  sendToList,
} from "./company.ts";
import { type CountingSink, startCountingSink } from "./counting-sink.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const RECIPIENTS = 3_000;
const SLOW_MS = 25;
const LOST_MS = 8_000;
/** Lets an hour pass. */
const ITS_TIME_COMES = "update campaigns set scheduled_for = now()";
const WITHIN_MS = 400_000;

jest.setTimeout(1_200_000);

describe("a database restored from an older backup", () => {
  let server: Postgres15;
  let sink: CountingSink;
  let env: NodeJS.ProcessEnv;
  const folder = mkdtempSync(join(tmpdir(), "flockmail-backup-"));
  const scene = { gateways: [] as string[], hooks: { url: "http://127.0.0.1:9/" } };
  const running: ServiceProcess[] = [];

  const start = async (database: string) => {
    const service = await startService({ env: { ...env, DATABASE_URL: server.url(database) } });
    running.push(service);
    await service.ready();
    scene.gateways = [service.url];
    return service;
  };
  const ops = async (...args: string[]) => {
    const { path, env: needed } = await program("pg_dump", ["postgresql-15", "postgresql-client-15"]);
    const PATH = `${resolve(path, "..")}:${process.env.PATH}`;
    const options = { cwd: ROOT, env: { ...process.env, ...env, ...needed, PATH } };
    return promisify(execFile)(node, ["services/operator/ops.ts", ...args], options);
  };
  async function rows<T>(database: string, sql: string, values: unknown[] = []): Promise<T[]> {
    const client = new pg.Client(server.url(database));
    await client.connect();
    try {
      return (await client.query(sql, values)).rows as T[];
    } finally {
      await client.end();
    }
  }
  const untilArrived = async (sender: string, count: number) => {
    const deadline = Date.now() + WITHIN_MS;
    while (sink.to(sender).size < count && Date.now() < deadline) await sleep(50);
    expect(sink.to(sender).size).toBeGreaterThanOrEqual(count);
  };
  const untilStatus = async (database: string, id: string, status: string) => {
    const deadline = Date.now() + WITHIN_MS;
    for (;;) {
      const [row] = await rows<{ status: string; error: string | null; sent_count: number; failed_count: number }>(
        database,
        "select status, error, sent_count, failed_count from campaigns where id = $1",
        [id],
      ).catch(() => []);
      if (row?.status === status || Date.now() > deadline) return row;
      await sleep(200);
    }
  };
  const mostToOne = (sender: string) => Math.max(...[...sink.to(sender).values()].map((times) => times.length));

  beforeAll(async () => {
    server = await startPostgres15({ settings: ["max_connections=200"] });
    sink = await startCountingSink(SLOW_MS);
    for (const name of ["flockmail", "restored", "other"]) await rows("postgres", `create database ${name}`);
    env = {
      DATABASE_URL: server.url("flockmail"),
      SECRET_KEY: "a cluster on one machine, for trying out",
      ALLOW_PRIVATE_NETWORKS: "true",
      HOST: "127.0.0.1",
      BASE_URL: "http://localhost:3000",
      LOGLEVEL: "warn",
      DRAIN_SECONDS: "4",
      SEND_LEASE_SECONDS: "3",
      RETRY_BASE_SECONDS: "1",
      DATA_DIR: join(folder, "data"),
    };
  });
  afterAll(async () => {
    for (const { child } of running) await child.stop();
    await sink?.stop();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  let company: Company;
  let news: RequestedCampaign;
  let scheduled: RequestedCampaign;
  const dump = join(folder, "flockmail.dump");

  test("is backed up while mails are being sent, and sending continues", async () => {
    await start("flockmail");
    company = await newCompany(scene as never, "restored");
    const people = addresses("restored", RECIPIENTS);
    const listId = await newList(company, "All", people);
    const slow = { max_connections: 4 };
    const relay = () => newServer(company, sink.port, slow);
    const list = { listId, recipients: people };
    news = await sendToList(company, { phase: "", name: "News", ...list, server: await relay() });
    const few = addresses("few", 40);
    const fewList = { listId: await newList(company, "Few", few), recipients: few };
    scheduled = await sendToList(company, {
      phase: "",
      name: "Later",
      ...fewList,
      server: await relay(),
      scheduledFor: new Date(Date.now() + 3_600_000),
    });
    await untilArrived(news.sender, RECIPIENTS * 0.05);
    const { stdout } = await ops("backup", dump);
    expect(stdout).toContain(dump);
    const checked = await ops("restore-check", dump, server.url("other"));
    expect(checked.stdout).toContain("would be stopped");
    const before = sink.to(news.sender).size;
    await rows("flockmail", `${ITS_TIME_COMES} where id = $1`, [scheduled.id]);
    await untilArrived(scheduled.sender, 40);
    await sleep(LOST_MS);
    expect(sink.to(news.sender).size).toBeGreaterThan(before);
  });

  test("stops newsletters if restored with everything stopped, nobody gets two mails, and resume continues", async () => {
    for (const { child } of running.splice(0)) await child.stop();
    await server.run("pg_restore", "--exit-on-error", "--dbname", server.url("restored"), dump);
    await rows("restored", `${ITS_TIME_COMES} where id = $1`, [scheduled.id]);
    const service = await start("restored");
    const stopped = await untilStatus("restored", news.id, "partial");
    expect(stopped).toMatchObject({ status: "partial", error: expect.stringContaining("restored from a backup") });
    expect(stopped!.sent_count + stopped!.failed_count).toBe(RECIPIENTS);
    expect((await untilStatus("restored", scheduled.id, "partial"))?.status).toBe("partial");
    expect(service.child.output()).toContain("the database was restored from a backup");
    await sleep(2_000);
    expect([mostToOne(news.sender), mostToOne(scheduled.sender)]).toEqual([1, 1]);

    // Sends requested from now on go out.
    const people = addresses("afterwards", 20);
    const after = await sendToList(company, {
      phase: "",
      name: "Afterwards",
      listId: await newList(company, "Afterwards", people),
      recipients: people,
      server: await newServer(company, sink.port),
    });
    expect(await untilStatus("restored", after.id, "completed")).toMatchObject({ sent_count: 20 });
    expect(mostToOne(after.sender)).toBe(1);

    await company.api("POST", `/api/emails/campaigns/${news.id}/resume/`);
    expect(await untilStatus("restored", news.id, "completed")).toMatchObject({
      sent_count: RECIPIENTS,
      failed_count: 0,
    });
    expect(sink.to(news.sender).size).toBe(RECIPIENTS);
  });

  test("is noticed if restored under a running service, and newsletters are stopped", async () => {
    const people = addresses("under", RECIPIENTS);
    const under = await sendToList(company, {
      phase: "",
      name: "Under way",
      listId: await newList(company, "Under", people),
      recipients: people,
      server: await newServer(company, sink.port, { max_connections: 4 }),
    });
    await untilArrived(under.sender, RECIPIENTS * 0.05);
    const second = join(folder, "second.dump");
    await server.run("pg_dump", "--format=custom", "--file", second, server.url("restored"));
    await sleep(LOST_MS);
    const admin = (sql: string) => rows("postgres", sql);
    await admin("drop database restored with (force)");
    await admin("create database restored");
    await server.run("pg_restore", "--exit-on-error", "--dbname", server.url("restored"), second);
    expect(await untilStatus("restored", under.id, "partial")).toMatchObject({
      status: "partial",
      error: expect.stringContaining("restored from a backup"),
    });
    await sleep(2_000);
    expect(mostToOne(under.sender)).toBe(1);
  });
});
