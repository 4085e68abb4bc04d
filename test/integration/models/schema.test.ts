import { closeDatabase, openDatabase, query, queryOne } from "../../../models/db.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

describe("the schema", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
    openDatabase(database.url, 4);
  });
  afterAll(async () => {
    await closeDatabase();
    await database.drop();
  });

  test("uuid_v7() makes ids of version 7 that grow with time", async () => {
    const rows = await query<{ id: string }>("select uuid_v7() id, pg_sleep(0.002) from generate_series(1, 5)");
    const ids = rows.map(({ id }) => id);
    expect(ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab]/.test(id))).toBe(true);
    expect(ids.toSorted()).toEqual(ids);
  });

  test("counters follow inserts and deletes of many rows exactly", async () => {
    const company = "018f0000-0000-7000-8000-000000000001";
    await query("insert into companies (id, name, plan) values ($1, 'A', 'unlimited')", [company]);
    await query(
      "insert into subscribers (company_id, email) select $1, 'u' || n || '@example.com' from generate_series(1, 100) n",
      [company],
    );
    await query("delete from subscribers where company_id = $1 and email < 'u3'", [company]);
    const counted = await queryOne<{ n: number }>("select count_of($1, 'subscribers', $1) n", [company]);
    const real = await queryOne<{ n: number }>("select count(*) n from subscribers where company_id = $1", [company]);
    expect(counted).toEqual(real);
  });

  test("a domain suppression blocks its subdomains; a manual block wins over an unsubscribe", async () => {
    const company = "018f0000-0000-7000-8000-000000000002";
    await query("insert into companies (id, name, plan) values ($1, 'B', 'unlimited')", [company]);
    await query("insert into suppressions (company_id, domain) values ($1, 'example.org')", [company]);
    await query(
      "insert into suppressions (company_id, email, kind) values ($1, 'Ann@mail.example.org', 'unsubscribed')",
      [company],
    );
    const kind = async (address: string) =>
      (await queryOne<{ kind: string | null }>("select blocked_by($1, $2) kind", [company, address]))?.kind;
    expect(await kind("ann@mail.example.org")).toBe("manual");
    expect(await kind("bob@example.org")).toBe("manual");
    expect(await kind("bob@notexample.org")).toBeNull();
  });
});
