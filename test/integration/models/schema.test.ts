import { closeDatabase, openDatabase, query, queryOne } from "../../../models/database/db.ts";
import { newId } from "../../../services/lib/ids.ts";
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

  // The id acts as a credential in public links: only its time may be predictable.
  test("uuid_v7() and newId() have 74 random bits, also within one statement", async () => {
    const made = (await query<{ id: string }>("select uuid_v7() id from generate_series(1, 4000)")).map(({ id }) => id);
    for (const ids of [made, Array.from({ length: 4_000 }, newId)]) {
      const bits = ids.map((id) =>
        BigInt(`0x${id.replaceAll("-", "")}`)
          .toString(2)
          .padStart(128, "0"),
      );
      const share = (at: number) => bits.filter((text) => text[at] === "1").length / bits.length;
      const random = [...Array(128).keys()].slice(48).filter((at) => share(at) > 0.4 && share(at) < 0.6);
      expect(random).toHaveLength(74);
      expect(new Set(bits.map((text) => text.slice(52))).size).toBe(ids.length);
    }
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

  test("receivers are deleted with their campaign and their company", async () => {
    const company = "018f0000-0000-7000-8000-000000000003";
    await query("insert into companies (id, name, plan) values ($1, 'C', 'unlimited')", [company]);
    const campaigns = await query<{ id: string }>(
      `insert into campaigns (id, company_id, name, campaign_type, status, total_emails, smtp_config_id, worker_task_id)
       select uuid_v7(), $1, 'C', 'custom', 'pending', 2, $1, uuid_v7() from generate_series(1, 2) returning id`,
      [company],
    );
    for (const { id } of campaigns)
      await query("insert into campaign_receivers (company_id, campaign_id, no, email) values ($1, $2, 1, 'a@x.org')", [
        company,
        id,
      ]);
    const left = () => query("select campaign_id as id from campaign_receivers where company_id = $1", [company]);
    await query("delete from campaigns where company_id = $1 and id = $2", [company, campaigns[0]!.id]);
    expect(await left()).toEqual([campaigns[1]]);
    await query("delete from companies where id = $1", [company]);
    expect(await left()).toEqual([]);
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
