/** A database with other formats and isolation level works like one with the defaults. */
import { query, sequelize } from "../../../models/database/db.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, type TestCompany } from "../../support/client.ts";
import { admin, createDatabase } from "../../support/database.ts";

const OTHERWISE: Record<string, string> = {
  datestyle: "SQL, DMY",
  intervalstyle: "iso_8601",
  timezone: "Asia/Kolkata",
  bytea_output: "escape",
  extra_float_digits: "-9",
  standard_conforming_strings: "off",
  transform_null_equals: "on",
  array_nulls: "off",
  default_transaction_isolation: "serializable",
};

let app: App;
let company: TestCompany;
beforeAll(async () => {
  const database = await createDatabase();
  const name = new URL(database.url).pathname.slice(1);
  for (const [setting, value] of Object.entries(OTHERWISE)) {
    const list = value.split(", ").map((one) => `'${one}'`);
    await admin(`alter database ${name} set ${setting} = ${list.join(", ")}`);
  }
  app = await startApp({ database });
  company = await newCompany(app);
});
afterAll(() => app.stop());

test("each connection has the formats and the isolation level that statements rely on", async () => {
  const names = Object.keys(OTHERWISE);
  const settings = "select lower(name) as name, setting from pg_settings where lower(name) = any ($1)";
  const expected = {
    datestyle: "ISO, MDY",
    intervalstyle: "postgres",
    timezone: "UTC",
    bytea_output: "hex",
    extra_float_digits: "1",
    standard_conforming_strings: "on",
    transform_null_equals: "off",
    array_nulls: "on",
    default_transaction_isolation: "read committed",
  };
  const found = [await query(settings, [names]), (await sequelize().query(settings, { bind: [names] }))[0]];
  for (const rows of found as { name: string; setting: string }[][]) {
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual(expected);
  }
});

test("times are read and written as usual: a person, a segment by time, an export", async () => {
  const { api } = company;
  const { body: person } = await api.post("/api/emails/subscribers/", { email: "ann@example.com" });
  expect(Date.now() - Date.parse(person.created_at)).toBeLessThan(60_000);
  const rules = { conditions: [{ field: "created_at", operator: "in_last_days", value: 1 }] };
  const preview = await api.post("/api/emails/segments/preview/", { rules });
  expect(preview.body).toMatchObject({ subscriber_count: 1 });
  const exported = await api.get("/api/emails/subscribers/export/");
  expect(exported.text).toContain(person.created_at);
});
