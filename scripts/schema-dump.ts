/**
 * Reads the schema from PostgreSQL's catalogue as text. The output is equal on every machine and supported version, and
 * needs no pg_dump, which the embedded PostgreSQL lacks.
 */
import type { Client } from "pg";

const HEAD = "-- The whole schema after all migrations. Written by `npm run schema:dump`; a test compares the two.";

const EXTENSIONS = `select format('create extension %I', extname) as text from pg_extension where extname <> 'plpgsql' order by 1`;

// Functions of extensions are omitted.
const FUNCTIONS = `
  select pg_get_functiondef(p.oid) as text
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = 'public'
    and not exists (select from pg_depend d where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
  order by p.proname, pg_get_function_identity_arguments(p.oid)`;

// Partitions of hits, which are named after months, are omitted.
const TABLES = `
  select c.oid, c.relname as name, c.reloptions as options, c.relpersistence as persistence
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'public' and c.relkind in ('r', 'p')
    and not exists (select from pg_inherits where inhrelid = c.oid and inhparent = 'hits'::regclass)
  order by c.relname`;

const COLUMNS = `
  select a.attname as name, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as required,
    a.attgenerated as generated, a.attidentity as identity, pg_get_expr(d.adbin, d.adrelid) as value,
    case when a.attstorage <> t.typstorage then a.attstorage end as storage,
    case when a.attcollation <> t.typcollation then (select collname from pg_collation where oid = a.attcollation) end as collation
  from pg_attribute a join pg_type t on t.oid = a.atttypid
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attrelid = $1 and a.attnum > 0 and not a.attisdropped
  order by a.attnum`;

// PostgreSQL 18 lists "not null" among the constraints, older versions do not; columns show it already.
const CONSTRAINTS = `
  select conname as name, pg_get_constraintdef(oid) as text
  from pg_constraint where conrelid = $1 and contype <> 'n'
  order by array_position(array['p', 'u', 'f', 'c'], contype::text), conname`;

const INDEXES = `
  select pg_get_indexdef(i.indexrelid) as text
  from pg_index i join pg_class c on c.oid = i.indexrelid
  where i.indrelid = $1 and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u'))
  order by c.relname`;

const TRIGGERS = `
  select pg_get_triggerdef(oid) as text from pg_trigger where tgrelid = $1 and not tgisinternal order by tgname`;

interface Column {
  name: string;
  type: string;
  required: boolean;
  generated: string;
  identity: string;
  value: string | null;
  storage: string | null;
  collation: string | null;
}

function column({ name, type, required, generated, identity, value, storage, collation }: Column): string {
  const parts = [name, type];
  if (collation) parts.push(`collate "${collation}"`);
  if (storage) parts.push(`storage ${storage}`);
  if (generated) parts.push(`generated always as (${value}) stored`);
  else if (value) parts.push(`default ${value}`);
  if (identity) parts.push("generated as identity");
  if (required) parts.push("not null");
  return parts.join(" ");
}

async function texts(client: Client, sql: string, values: unknown[] = []): Promise<string[]> {
  return (await client.query<{ text: string }>(sql, values)).rows.map(({ text }) => text);
}

interface Table {
  oid: number;
  name: string;
  options: string[] | null;
  persistence: string;
}

async function table(client: Client, { oid, name, options, persistence }: Table): Promise<string> {
  const columns = (await client.query<Column>(COLUMNS, [oid])).rows.map(column);
  const { rows } = await client.query<{ name: string; text: string }>(CONSTRAINTS, [oid]);
  const constraints = rows.map((row) => `constraint ${row.name} ${row.text}`);
  const body = [...columns, ...constraints].map((line) => `  ${line}`).join(",\n");
  const storage = options ? ` with (${options.join(", ")})` : "";
  const after = [...(await texts(client, INDEXES, [oid])), ...(await texts(client, TRIGGERS, [oid]))];
  return [
    `create ${persistence === "u" ? "unlogged " : ""}table ${name} (\n${body}\n)${storage};`,
    ...after.map((text) => `${text};`),
  ].join("\n");
}

export async function schemaOf(client: Client): Promise<string> {
  // Names without their schema, as migrations write them.
  await client.query("set search_path = public");
  const extensions = (await texts(client, EXTENSIONS)).map((text) => `${text};`);
  const functions = (await texts(client, FUNCTIONS)).map((text) => `${text.trimEnd()};`);
  const { rows } = await client.query<Table>(TABLES);
  const tables: string[] = [];
  for (const row of rows) tables.push(await table(client, row));
  return `${[HEAD, ...extensions, ...functions, ...tables].join("\n\n").replaceAll("\r\n", "\n")}\n`;
}
