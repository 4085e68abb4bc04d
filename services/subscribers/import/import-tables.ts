/** The tables of an import's own: what came in, and one row of each address, in the order in which they are written. */
import { type Client, queryOne } from "../../../models/database/db.ts";
import { allowLonger } from "../../../models/database/silence.ts";
import { notSuppressed } from "../../../models/statements/not-suppressed.ts";
import { type ColumnType, readingsOf } from "./cell-types.ts";
import { NOTHING_SAID, SUPPRESSED_FROM } from "./status-words.ts";

// Longer than a gigabyte takes; the pool's own limit is meant for requests.
const STATEMENT_TIMEOUT_MS = 14 * 60_000;

/** The COPY statement for the lines of import-rows.ts. */
export async function prepareImport(client: Client): Promise<string> {
  await allowLonger(client, STATEMENT_TIMEOUT_MS);
  // For sorting and hashing what came in; what does not fit goes to temporary files.
  await client.query("set local work_mem = '64MB'");
  await client.query(`
    create temporary table incoming (
      line integer not null,
      id_tail text not null,
      email text not null,
      first_name text not null,
      last_name text not null,
      attributes jsonb,
      readings jsonb,
      state smallint not null,
      email_key text collate "C" generated always as (address_key(email)) stored
    ) on commit drop`);
  return "copy incoming (line, id_tail, email, first_name, last_name, attributes, readings, state) from stdin";
}

const READINGS_TABLE =
  "create temporary table counted_readings (name text, key text, rank integer, is_serial boolean) on commit drop";

const COUNT_READINGS = `
  insert into counted_readings select * from unnest($1::text[], $2::text[], $3::integer[], $4::boolean[])`;

/** Attributes with the readings that count in the place of their texts. Day 0 of a spreadsheet is 30 December 1899. */
const TYPED = `
  attributes || coalesce((
    select jsonb_object_agg(name, value) from (
      select distinct on (c.name) c.name,
        case when c.is_serial then to_jsonb((date '1899-12-30' + (readings ->> c.key)::integer)::text)
          else readings -> c.key end as value
      from counted_readings c
      where jsonb_exists(readings, c.key)
        and (not c.is_serial or readings ->> c.key ~ '^([1-9][0-9]{0,3}|[1-6][0-9]{4}|7[0-2][0-9]{3}|730[0-4][0-9]|73050)$')
      order by c.name, c.rank) best), '{}') as attributes`;

/** False where all columns are text. */
async function countReadings(client: Client, types: readonly ColumnType[]): Promise<boolean> {
  const readings = types.flatMap(readingsOf);
  if (readings.length === 0) return false;
  await client.query(READINGS_TABLE);
  const values = (["name", "key", "rank", "isSerial"] as const).map((field) => readings.map((one) => one[field]));
  await client.query(COUNT_READINGS, values);
  return true;
}

/** Below it the people of a file keep its order, which is the one that somebody may look for. */
export const LARGE = 10_000;

/**
 * One row of each address: the last, or where known subscribers are skipped the first; with the id that a new person gets. Ids
 * go up with the addresses, and the rows are written in that order, so that each page of each index is gone to once: 5.8 µs of
 * PostgreSQL's CPU for a row beside a million that are there, and 8.6 in the order of the file, when the index of
 * addresses is gone to at random, and read from disk again and again where it is larger than PostgreSQL's memory. Who is known
 * already pays 1.3 µs for the order (12.8 instead of 11.5).
 *
 * An id is a UUIDv7 (services/lib/ids.ts): its time and the 12 bits behind the version count up from when the reading began,
 * by 4,096 a millisecond, which nothing reads a file faster than; the rest is random, and comes with the row.
 */
const makePeople = (stays: "first" | "last", inFileOrder: boolean, beganMs: number, isTyped: boolean) => `
  create temporary table people on commit drop as
  select ('0' || to_hex((${beganMs}::bigint << 16) + 28672 + ((no >> 12) << 16) + (no & 4095)) || id_tail)::uuid as id,
    email, email_key, first_name, last_name, ${isTyped ? TYPED : "attributes"}, state
  from (
    select *, row_number() over () as no from (
      select * from (
        select distinct on (email_key) * from incoming order by email_key, line ${stays === "last" ? "desc" : "asc"}) one
      ${inFileOrder ? "order by line" : ""}) ordered) numbered`;

// Of an address that occurs twice the row that stays has the most careful status of all.
const SPREAD_STATES = `
  update people p set state = d.state
  from (select email_key, max(state) as state from incoming group by email_key having count(*) > 1) d
  where p.email_key = d.email_key and p.state < d.state`;

const COUNT_NEW = `
  select count(*) n from people i
  where not exists (select 1 from subscribers s where s.company_id = $1 and s.email_key = i.email_key)`;

// Also those whom the file itself suppresses, which a dry run does not write.
const COUNT_SUPPRESSED = `
  select count(*)::integer n from people p
  where p.state >= ${SUPPRESSED_FROM}
    or not ${notSuppressed({ key: '(p.email_key collate "default")', company: "$1::uuid", transactional: "false" })}`;

/** What stands in the import's table. */
interface RowsRead {
  rows: number;
  beganMs: number;
  types: readonly ColumnType[];
}

/** What the rows of a file are merged by. */
export interface MergeJob {
  companyId: string;
  /** Kept with the people whom it creates. */
  importId: string;
  listId?: string | undefined;
  /** What becomes of known subscribers: names, attributes and lists are updated, or stay. */
  onConflict: "update" | "skip";
  /** The most careful status of all rows (status-words.ts). */
  state: number;
}

/** How many of the file's rows only repeated an address. Of the import's own tables, so nobody else waits for it. */
export async function dropRepeated(client: Client, { onConflict, state }: MergeJob, read: RowsRead): Promise<number> {
  const stays = onConflict === "skip" ? "first" : "last";
  const isTyped = await countReadings(client, read.types);
  const made = await client.query(makePeople(stays, read.rows < LARGE, read.beganMs, isTyped));
  const repeated = read.rows - made.rowCount!;
  if (repeated > 0 && state > NOTHING_SAID) await client.query(SPREAD_STATES);
  // Of a large file as much disk as the other table takes.
  await client.query("drop table incoming");
  // What the merge joins and filters by; of all columns it took 200 ms of CPU, of these 50.
  await client.query("analyze people (email_key, state)");
  return repeated;
}

/** Addresses that are new; counted only where the plan limits them. */
export async function countNew(client: Client, companyId: string, room: number): Promise<number> {
  if (!Number.isFinite(room)) return 0;
  return (await queryOne<{ n: number }>(COUNT_NEW, [companyId], client))?.n ?? 0;
}

/** How many of the file's people get no newsletter, because their address or domain is suppressed. */
export async function countSuppressed(client: Client, companyId: string): Promise<number> {
  return (await queryOne<{ n: number }>(COUNT_SUPPRESSED, [companyId], client))!.n;
}
