import pg from "pg";
import { query, sequelize, transaction } from "../../../models/database/db.ts";
import { problemOf } from "../../../services/gateway/http/problems.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, newCompany } from "../../support/client.ts";

const AWAY = { detail: "The service is not available at the moment." };

const raise = (code: string) => `do $$ begin raise exception 'x' using errcode = '${code}'; end $$`;
const EXHAUST = "set local statement_timeout = 50; select pg_sleep(5)";
const DISCONNECT = "select pg_terminate_backend(pg_backend_pid())";

describe("a statement that PostgreSQL cancels is a 503 with Retry-After", () => {
  let app: App;
  beforeAll(async () => {
    // Sequelize warns about rollbacks on a lost connection.
    jest.spyOn(console, "warn").mockImplementation(() => {});
    app = await startApp({ services: ["gateway", "accounts"] });
    app.broker.createService({
      name: "work",
      actions: {
        pg: (ctx) => transaction((connection) => connection.query(ctx.params.sql)),
        sequelize: (ctx) =>
          sequelize().transaction((connection) => sequelize().query(ctx.params.sql, { transaction: connection })),
      },
    });
    await app.broker.waitForServices("work");
  });
  afterAll(async () => {
    await app.stop();
    jest.restoreAllMocks();
  });

  test.each(
    ["pg", "sequelize"].flatMap((by) =>
      (
        [
          ["a statement time-out", EXHAUST],
          ["a lock time-out", raise("55P03")],
          ["a deadlock", raise("40P01")],
          ["a serialization failure", raise("40001")],
          ["a lost connection", DISCONNECT],
        ] as const
      ).map(([what, sql]) => [what, by, sql] as const),
    ),
  )("%s by way of %s", async (_, by, sql) => {
    const error = await app.broker.call(`work.${by}`, { sql }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "UNAVAILABLE", retryable: true });
    expect(problemOf(error, "r")).toMatchObject({ status: 503, body: AWAY, headers: { "Retry-After": "5" } });
    expect(problemOf(error, "r").reason).toEqual(expect.any(String));
  });

  test("an error of the statement itself stays a 500", async () => {
    const error = await app.broker.call("work.pg", { sql: "select 1/0" }).catch((thrown: unknown) => thrown);
    expect(problemOf(error, "r").status).toBe(500);
  });

  test("a request that waits too long for a row's lock is 503", async () => {
    const company = await newCompany(app);
    const path = `/api/companies/${company.id}/`;
    await query(`alter database "${new URL(app.databaseUrl).pathname.slice(1)}" set lock_timeout = '100ms'`);
    const holder = new pg.Client(app.databaseUrl);
    await holder.connect();
    try {
      await holder.query("begin");
      await holder.query("select from companies where id = $1 for update", [company.id]);
      // Only new connections get the timeout.
      await holder.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
      );
      const answer = await company.api.patch(path, { name: "Another" });
      expect([answer.status, answer.body]).toEqual([503, AWAY]);
      expect(answer.headers.get("retry-after")).toBe("5");
      await holder.query("rollback");
      expect(await company.api.patch(path, { name: "Another" })).toMatchObject({ status: 200 });
      expect(await client(app).get("/nowhere/")).toMatchObject({ status: 404 });
    } finally {
      await holder.end();
    }
  });
});
