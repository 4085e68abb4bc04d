/** Temporary tables of an import: the rows read, and one row per address in the order of writing. */
import { type Client, queryOne } from "../../../models/database/db.ts";
import { allowLonger } from "../../../models/database/silence.ts";
import { notSuppressed } from "../../../models/statements/not-suppressed.ts";
import { type ColumnType, readingsOf } from "./cell-types.ts";
import { NOTHING_SAID, SUPPRESSED_FROM } from "./status-words.ts";

// Longer than a gigabyte takes; the pool's limit is meant for requests.
const STATEMENT_TIMEOUT_MS = 14 * 60_000;

/** Creates the table and returns the COPY statement for the lines of import-rows.ts. */
export async function prepareImport(client: Client): Promise<string> {
  await allowLonger(client, STATEMENT_TIMEOUT_MS);
  // Memory for sorting and hashing; larger data goes to temporary files.
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

/** Replaces texts by the readings that were decided on. Spreadsheet day 0 is 30 December 1899. */
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

/** False if all columns are text. */
async function countReadings(client: Client, types: readonly ColumnType[]): Promise<boolean> {
  const readings = types.flatMap(readingsOf);
  if (readings.length === 0) return false;
  await client.query(READINGS_TABLE);
  const values = (["name", "key", "rank", "isSerial"] as const).map((field) => readings.map((one) => one[field]));
  await client.query(COUNT_READINGS, values);
  return true;
}

/** Smaller files are written in their own order, which users may expect to see. */
export const LARGE_FILE_ROWS = 10_000;

/**
 * Keeps one row per address (the last, or the first if known subscribers are skipped) and assigns ids. Ids ascend with
 * the addresses, and rows are written in that order, so that each index page is visited once; the order of the file
 * would access the index of addresses at random.
 *
 * An id is a UUIDv7 (services/lib/ids.ts): its time and the 12 bits behind the version count up from the beginning of
 * the import, by 4,096 per millisecond, which is faster than any file is read; the remaining bits are random.
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

// Gives the remaining row of a repeated address the most restrictive status of all.
const KEEP_STRICTEST_STATES = `
  update people p set state = d.state
  from (select email_key, max(state) as state from incoming group by email_key having count(*) > 1) d
  where p.email_key = d.email_key and p.state < d.state`;

const COUNT_NEW = `
  select count(*) n from people i
  where not exists (select 1 from subscribers s where s.company_id = $1 and s.email_key = i.email_key)`;

// Includes people whom the file itself suppresses, which a dry run does not write.
const COUNT_SUPPRESSED = `
  select count(*)::integer n from people p
  where p.state >= ${SUPPRESSED_FROM}
    or not ${notSuppressed({ key: '(p.email_key collate "default")', company: "$1::uuid", transactional: "false" })}`;

/** Result of reading the file into the table. */
interface RowsRead {
  rows: number;
  beganMs: number;
  types: readonly ColumnType[];
}

/** Parameters of the merge. */
export interface MergeJob {
  companyId: string;
  /** Stored with the subscribers that it creates. */
  importId: string;
  listId?: string | undefined;
  /** Names, attributes and lists of known subscribers are updated or kept. */
  onConflict: "update" | "skip";
  /** Most restrictive status of all rows (status-words.ts). */
  state: number;
}

/** Removes repeated addresses and returns their number. Works on the import's own tables, so nobody waits. */
export async function dropRepeated(client: Client, { onConflict, state }: MergeJob, read: RowsRead): Promise<number> {
  const stays = onConflict === "skip" ? "first" : "last";
  const isTyped = await countReadings(client, read.types);
  const created = await client.query(makePeople(stays, read.rows < LARGE_FILE_ROWS, read.beganMs, isTyped));
  const repeated = read.rows - created.rowCount!;
  if (repeated > 0 && state > NOTHING_SAID) await client.query(KEEP_STRICTEST_STATES);
  // Frees as much disk as the other table takes.
  await client.query("drop table incoming");
  // Analyse only the columns that the merge joins and filters by.
  await client.query("analyze people (email_key, state)");
  return repeated;
}

/** Number of new addresses; counted only if the plan limits them. */
export async function countNew(client: Client, companyId: string, room: number): Promise<number> {
  if (!Number.isFinite(room)) return 0;
  return (await queryOne<{ n: number }>(COUNT_NEW, [companyId], client))?.n ?? 0;
}

/** Number of people who get no newsletter because their address or domain is suppressed. */
export async function countSuppressed(client: Client, companyId: string): Promise<number> {
  return (await queryOne<{ n: number }>(COUNT_SUPPRESSED, [companyId], client))!.n;
}
