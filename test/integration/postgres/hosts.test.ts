/**
 * DATABASE_URL with several hosts and with TLS, on real servers: a primary, its standby, and one with its own
 * authority.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeDatabase, openDatabase, prepared, query, sequelize, transaction } from "../../../models/database/db.ts";
import { migrate } from "../../../models/database/migrate.ts";
import { isDatabaseOutage } from "../../../models/database/outage.ts";
import { refuseUnusable } from "../../../models/database/pooler.ts";
import { readConfig } from "../../../services/lib/config.ts";
import { awaitPostgres } from "../../../services/lib/processes/await-postgres.ts";
import { hostUrls } from "../../../services/lib/processes/postgres-hosts.ts";
import { type Certificate, selfMadeCertificate } from "../../support/certificate.ts";
import { type Postgres15, startPostgres15 } from "../../support/postgres15.ts";

jest.setTimeout(240_000);

const servers: Postgres15[] = [];
const start = async (options?: Parameters<typeof startPostgres15>[0]) => {
  const server = await startPostgres15(options);
  servers.push(server);
  return server;
};
afterEach(closeDatabase);
afterAll(async () => {
  for (const server of servers.reverse()) await server.stop();
});

const reached = (url: string) => awaitPostgres(url, { waiting: () => {}, signal: new AbortController().signal });

/** Kinds of connections of a process. */
const ports = async () => {
  const port = "select inet_server_port() as port";
  const rows = [
    await query(port),
    await prepared("port", port, []),
    await transaction((client) => query(port, [], client)),
    (await sequelize().query(port))[0],
  ];
  return [...new Set(rows.map((found) => (found as { port: number }[])[0]!.port))];
};

test("every connection uses the primary of several hosts, also after a failover", async () => {
  const primary = await start();
  const standby = await start({ replicaOf: primary.port });
  const url = `postgres://test@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/postgres?target_session_attrs=read-write`;
  await reached(url);
  await refuseUnusable(url);
  await migrate(url);
  openDatabase(url, 10);
  expect(await ports()).toEqual([primary.port]);
  await primary.stop();
  await standby.promote();
  const deadline = Date.now() + 60_000;
  for (;;) {
    try {
      expect(await ports()).toEqual([standby.port]);
      break;
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((done) => setTimeout(done, 100));
    }
  }
  expect((await query("select count(*) n from migrations"))[0]!.n).toBeGreaterThan(0);
});

test("a start waits for a standby without a primary, then reports it", async () => {
  const primary = await start();
  const standby = await start({ replicaOf: primary.port });
  const at = `PostgreSQL at 127.0.0.1:${standby.port} (DATABASE_URL) cannot be reached`;
  await expect(reached(`${standby.url("postgres")}?connect_timeout=1`)).rejects.toThrow(
    `${at}: it is a standby and takes no writes. Gave up after 1 s.`,
  );
  // A process that reaches a standby later, after a failover, fails as if the database were unavailable.
  openDatabase(standby.url("postgres"), 5);
  for (const ask of [() => query("select 1"), () => sequelize().query("select 1")]) {
    expect(isDatabaseOutage(await ask().catch((error: Error) => error))).toBe(true);
  }
});

describe("TLS with a private authority", () => {
  const folder = mkdtempSync(join(tmpdir(), "flockmail-tls-"));
  const ca = join(folder, "ca.pem");
  const wrong = join(folder, "wrong.pem");
  let certificate: Certificate;
  let server: Postgres15;
  const url = (more: string, host = "127.0.0.1") =>
    `postgres://test@${host}:${server.port}/postgres?connect_timeout=60${more}`;
  beforeAll(async () => {
    certificate = selfMadeCertificate();
    writeFileSync(ca, certificate.cert);
    writeFileSync(wrong, selfMadeCertificate().cert);
    server = await start({ tls: certificate });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each(["127.0.0.1", "localhost"])("works with sslmode=verify-full and sslrootcert: %s", async (host) => {
    const verified = url(`&sslmode=verify-full&sslrootcert=${ca}`, host);
    await reached(verified);
    await refuseUnusable(verified);
    await migrate(verified);
    openDatabase(verified, 10);
    const isEncrypted = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
    expect([await query(isEncrypted), (await sequelize().query(isEncrypted))[0]]).toEqual([
      [{ ssl: true }],
      [{ ssl: true }],
    ]);
  });

  test("works with several hosts, too", async () => {
    const dead = "127.0.0.1:1";
    const verified = `postgres://test@${dead},localhost:${server.port}/postgres?sslmode=verify-full&sslrootcert=${ca}`;
    await reached(verified);
    openDatabase(verified, 5);
    expect(await ports()).toEqual([server.port]);
  });

  test.each([
    ["another authority", () => url(`&sslmode=verify-full&sslrootcert=${wrong}`), /certificate/],
    ["no TLS where the server wants it", () => url(""), /no encryption/],
  ])("is refused in one line: %s", async (_what, given, reason) => {
    const error = await reached(given()).catch((refused: Error) => refused);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toMatch(reason);
    expect((error as Error).message).not.toContain("\n");
  });
});

test("a server that is too old is refused with its version", async () => {
  const url = process.env.TEST_SERVER_URL!;
  await expect(refuseUnusable(url, { oldest: 99 })).rejects.toThrow(/is version 1\d; it must be 99 or newer\.$/);
  await refuseUnusable(url);
});

test("hosts are read as libpq writes them", () => {
  expect(hostUrls("postgres://u:p%40@one:1,two/db?a=b")).toEqual([
    "postgres://u:p%40@one:1/db?a=b",
    "postgres://u:p%40@two/db?a=b",
  ]);
  expect(hostUrls("postgresql:///db?host=one,two&port=1,2&sslmode=disable")).toEqual([
    "postgresql://one:1/db?sslmode=disable",
    "postgresql://two:2/db?sslmode=disable",
  ]);
  expect(hostUrls("postgres://u@one,[::1]:5/db")).toEqual(["postgres://u@one/db", "postgres://u@[::1]:5/db"]);
  expect(hostUrls("postgres:///db?user=u&host=/var/run/postgresql")).toEqual([
    "postgres:///db?user=u&host=/var/run/postgresql",
  ]);
});

test("invalid URLs are refused with the configuration", () => {
  const env = (DATABASE_URL: string) => () => readConfig({ DATABASE_URL, SECRET_KEY: "0123456789abcdef" });
  expect(env("postgres://u@one,two:5433/db?target_session_attrs=read-write")).not.toThrow();
  expect(env("postgres://u@one,two/db?target_session_attrs=standby")).toThrow(
    /DATABASE_URL: target_session_attrs=standby/,
  );
  expect(env("mysql://u@one/db")).toThrow("DATABASE_URL must be a URL that begins with postgres:// or postgresql://");
});
