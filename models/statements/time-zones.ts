/**
 * Converts clocks and instants in time zones. PostgreSQL's zone table is authoritative: slices by recipients' time,
 * days of statistics and filters are statements, and one server answers all nodes, while Node's own table varies by
 * version. Nothing else converts a clock to an instant.
 */
import { query, queryOne } from "../database/db.ts";
import { isDay } from "../segment-rules/values.ts";

/** Sorted names allowed as a company's time zone, without abbreviations and offsets. */
export const zoneNames = async (): Promise<string[]> =>
  (await query<{ name: string }>("select n as name from time_zone_names() n order by n")).map(({ name }) => name);

export const isZone = async (name: string): Promise<boolean> =>
  (await query("select from time_zone_names() n where n = $1", [name])).length > 0;

/** "2026-12-01T09:00:00": what the company's clocks show at the instants, in their order. */
export const clocksAt = (
  companyId: string,
  instants: readonly string[],
): Promise<{ timezone: string; clocks: string[] } | undefined> =>
  queryOne(
    `select c.timezone, array(
       select to_char(local_time(i.at, c.timezone), 'YYYY-MM-DD"T"HH24:MI:SS')
       from unnest($2::timestamptz[]) with ordinality i (at, n) order by i.n) as clocks
     from companies c where c.id = $1`,
    [companyId, instants],
  );

/**
 * Converts the company's local time to an instant. A local time that daylight saving skips is moved forward by the
 * skipped time; of one that occurs twice the second counts.
 */
export async function instantOf(companyId: string, clock: string): Promise<Date | undefined> {
  const sql = "select $2::timestamp at time zone zone_rule(timezone) as at from companies where id = $1";
  return (await queryOne<{ at: Date }>(sql, [companyId, clock]))?.at;
}

/**
 * Converts a filter's bound to an instant: the time itself, or for a date the start of that day in the company's time
 * zone (for exclusive bounds such as `created_after` the start of the next day).
 */
export async function boundOf(companyId: string, given: string, { isAfter = false } = {}): Promise<Date> {
  if (!isDay(given)) return new Date(given);
  const sql = "select day_start($2::date + $3::int, timezone) as at from companies where id = $1";
  return (await queryOne<{ at: Date }>(sql, [companyId, given, isAfter ? 1 : 0]))?.at ?? new Date(given);
}

/** Today, by the company's time zone. */
export const todayAt = async (companyId: string): Promise<string> =>
  (await queryOne<{ day: string }>("select company_day($1, now())::text as day", [companyId]))!.day;
