/** Compares Sequelize's models with the tables that the migrations create. */
import type { ModelAttributeColumnOptions, ModelStatic } from "sequelize";
import { Campaign } from "../../../models/campaign.ts";
import { Company } from "../../../models/company.ts";
import { closeDatabase, openDatabase, query, sequelize } from "../../../models/database/db.ts";
import { fromRow } from "../../../models/database/from-row.ts";
import { listModels } from "../../../models/database/listing.ts";
import { Membership } from "../../../models/membership.ts";
import { Subscriber } from "../../../models/subscriber.ts";
import { User } from "../../../models/user.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  openDatabase(database.url, 4);
});
afterAll(async () => {
  await closeDatabase();
  await database.drop();
});

interface Column {
  table: string;
  name: string;
  type: string;
  required: boolean;
  has_default: boolean;
  is_key: boolean;
}

const COLUMNS = `
  select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as required,
    a.atthasdef as has_default, coalesce(a.attnum = any (k.conkey), false) as is_key
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_constraint k on k.contype = 'p'
    -- A table in parts: the key is theirs, by the same columns in the same places.
    and k.conrelid = case c.relkind when 'r' then c.oid else (select max(inhrelid) from pg_inherits where inhparent = c.oid) end
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  order by 1, 2`;

const describeColumn = ({ type, required, is_key }: Pick<Column, "type" | "required" | "is_key">) =>
  [type.toLowerCase(), required ? "not null" : "null", ...(is_key ? ["key"] : [])].join(" ");

const typeOf = ({ type }: ModelAttributeColumnOptions) => (type as unknown as { toSql(): string }).toSql();

const modelOf = (table: string) => Object.values(sequelize().models).find((model) => model.getTableName() === table);

function columnsOf(model: ModelStatic<never>): [string, string][] {
  return Object.values(model.getAttributes() as Record<string, ModelAttributeColumnOptions>).map((attribute) => [
    attribute.field!,
    describeColumn({
      type: typeOf(attribute),
      required: attribute.allowNull === false,
      is_key: attribute.primaryKey === true,
    }),
  ]);
}

test("a model has exactly the columns of its table, their types, and a key that includes the company", async () => {
  const columns = await query<Column>(COLUMNS);
  const tables = Object.values(sequelize().models).map((model) => String(model.getTableName()));
  expect(tables.length).toBeGreaterThan(27);
  const expected = tables.map((table) => {
    const own = columns.filter((column) => column.table === table);
    return [
      table,
      Object.fromEntries(
        own.map((column) => [
          column.name,
          describeColumn({
            ...column,
            // A model must have a key; hits have none in the database.
            is_key:
              column.is_key ||
              (column.name === "company_id" && column.required) ||
              (table === "hits" && column.name === "id"),
          }),
        ]),
      ),
    ];
  });
  const actual = tables.map((table) => [table, Object.fromEntries(columnsOf(modelOf(table) as ModelStatic<never>))]);
  expect(Object.fromEntries(actual)).toEqual(Object.fromEntries(expected));
});

test("omitted fields get the table's default at creation", async () => {
  const columns = (await query<Column>(COLUMNS)).filter(
    ({ table, required, has_default }) => modelOf(table) && required && has_default,
  );
  const without = columns.filter(({ table, name }) => {
    const attributes = modelOf(table)!.getAttributes() as Record<string, ModelAttributeColumnOptions>;
    const attribute = Object.values(attributes).find(({ field }) => field === name)!;
    return attribute.defaultValue === undefined && typeOf(attribute) !== "TIMESTAMP WITH TIME ZONE";
  });
  expect(without.map(({ table, name }) => `${table}.${name}`)).toEqual([]);
});

test("rows of plain SQL and of the model have the same API representation", async () => {
  const company = await Company.create({ name: "Plain", plan: "unlimited", website: "https://plain.example" });
  const [row] = await query<object>("select * from companies where id = $1", [company.id]);
  expect(fromRow(Company, row!).view()).toEqual(company.view());
  const page = { from: "companies c", columns: "c.*", where: ["c.id = $1"], values: [company.id], id: "c.id" };
  const { count, results } = await listModels(Company, { ...page, orderings: {}, searchIn: ["c.name"] }, {});
  expect([count, results.map((one) => one.view())]).toEqual([1, [company.view()]]);
});

test("rows are read, found by their associations, and written with their company's id", async () => {
  const company = await Company.create({ name: "Acme", plan: "unlimited" });
  const user = await User.create({ email: "Ann@Example.com", passwordHash: "-" });
  await Membership.create({ companyId: company.id, userId: user.id, role: "owner" });
  const [membership] = await Membership.findAll({ where: { companyId: company.id }, include: ["user", "company"] });
  expect(membership!.get("user")).toMatchObject({ id: user.id, emailKey: "ann@example.com" });
  expect(membership!.get("company")).toMatchObject({ name: "Acme", doubleOptIn: false });

  const subscriber = await Subscriber.create({ companyId: company.id, email: "Bob@Example.com" });
  expect(subscriber.get()).toMatchObject({ email: "Bob@Example.com", status: "active", attributes: {} });
  const statements: string[] = [];
  await subscriber.update({ firstName: "Bob" }, { logging: (sql) => statements.push(sql) });
  expect(statements.join()).toMatch(/UPDATE "subscribers" .*"company_id" = /);
  expect(await Campaign.findAll({ where: { companyId: company.id }, include: ["company"] })).toEqual([]);
});
