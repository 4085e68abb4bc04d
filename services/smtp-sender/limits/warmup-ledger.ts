/**
 * The days of SMTP configurations that are being warmed up, in PostgreSQL: one row for each, whose lock makes of any
 * number of senders one that counts. There are a few mails a day at first and a statement for a group of them, so that
 * no faster count stands before it; and nothing but PostgreSQL can lose it.
 *
 * What was taken and did not leave goes back. What a sender that is killed had taken stays taken: its mails may have
 * left.
 */
import type { Transaction } from "sequelize";
import { query, queryOne, sequelize } from "../../../models/database/db.ts";
import type { SmtpConfig } from "../../../models/smtp-config.ts";
import type { Day } from "./hour-limit.ts";

/** In the last moments of a day nothing is granted: when a mail leaves is when its server takes it. */
const LAST_MS = 10_000;
/** So much of it is left to a mail that is granted last. */
const TRANSFER_MS = 5_000;

export interface DayGrant {
  /** 0 to what was asked for. */
  granted: number;
  day: Day;
  /** How long it may be used. */
  lifeMs: number;
  /** Until the next day begins. */
  leftMs: number;
}

interface Configuration {
  company_id: string;
  smtp_config_id: string;
}

// Exactly, in decimals: 1000 × 1.15 is 1150 and not a little less. Beyond e^30 times the start it is the last number anyway.
const NUMBER_OF_DAY = `least(w.until_per_day, case when (d.step - 1) * ln(w.factor::float8) > 30 then w.until_per_day
  else floor(w.start_per_day * w.factor ^ (d.step - 1)) end)::int`;

// The row is read when its lock is held. A day that another sender has begun is not given up for a clock that was read before,
// or a time zone in which it has not come yet. Days on which nothing was sent do not count.
const TAKE = `
  with config as materialized (
    select w.*, o.timezone, local_time(clock_timestamp(), o.timezone)::date as today
    from smtp_configs s join companies o on o.id = s.company_id
    cross join lateral jsonb_to_record(s.warmup) w (start_per_day numeric, factor numeric, until_per_day numeric)
    where s.company_id = $1 and s.id = $2 and s.warmup is not null),
  held as (
    select l.* from warmup_ledgers l where l.company_id = $1 and l.smtp_config_id = $2 for update),
  day as (
    select greatest(h.day, w.today) as day,
      case when h.day < w.today and h.taken > 0 then h.step + 1 else h.step end as step,
      case when h.day < w.today then 0 else h.taken end as taken,
      case when h.day >= w.today then h.full_until end as full_until
    from held h cross join config w),
  room as (
    select d.*, t.ends, extract(epoch from t.ends - clock_timestamp())::float8 * 1000 as left_ms, n.of_day
    from day d cross join config w
    cross join lateral (select day_start(d.day + 1, w.timezone) as ends) t
    cross join lateral (select ${NUMBER_OF_DAY} as of_day) n),
  granted as (
    select r.*, case when r.left_ms < ${LAST_MS} then 0 else greatest(0, least($3, r.of_day - r.taken)) end as granted
    from room r)
  update warmup_ledgers l
  set day = g.day, step = g.step, taken = g.taken + g.granted,
    full_until = case when g.granted < $3 then g.ends when g.taken + g.granted >= g.of_day then g.full_until end
  from granted g
  where l.company_id = $1 and l.smtp_config_id = $2
  returning g.granted, g.day::text as date, g.step, g.left_ms`;

const FIRST = `
  insert into warmup_ledgers (company_id, smtp_config_id, day, step, taken)
  select s.company_id, s.id, local_time(clock_timestamp(), o.timezone)::date, 1, 0
  from smtp_configs s join companies o on o.id = s.company_id
  where s.company_id = $1 and s.id = $2 and s.warmup is not null
  on conflict do nothing`;

/** Up to `n` mails of its day. Undefined: it is not warmed up any more, and every mail may leave. */
export async function takeOfDay(
  { company_id, smtp_config_id }: Configuration,
  n: number,
): Promise<DayGrant | undefined> {
  const key = [company_id, smtp_config_id];
  const take = () => queryOne<{ granted: number; date: string; step: number; left_ms: number }>(TAKE, [...key, n]);
  let row = await take();
  if (!row) {
    await query(FIRST, key);
    row = await take();
  }
  if (!row) return undefined;
  const { granted, date, step, left_ms: leftMs } = row;
  return { granted, day: { date, step }, lifeMs: leftMs - TRANSFER_MS, leftMs };
}

/** What was taken on that day and did not leave. */
export async function giveOfDay(
  { company_id, smtp_config_id }: Configuration,
  { date, step }: Day,
  n: number,
): Promise<void> {
  await query(
    `update warmup_ledgers set taken = greatest(0, taken - $5)
     where company_id = $1 and smtp_config_id = $2 and day = $3 and step = $4`,
    [company_id, smtp_config_id, date, step, n],
  );
}

/**
 * Its warm-up was changed: nothing is known to wait until a sender finds that it does. What left today stays counted, and
 * without a warm-up nothing is: a later one begins with its first day.
 */
export async function warmupChanged(
  { companyId, id, warmup }: Pick<SmtpConfig, "companyId" | "id" | "warmup">,
  transaction: Transaction,
): Promise<void> {
  const where = "where company_id = $1 and smtp_config_id = $2";
  const sql = warmup ? `update warmup_ledgers set full_until = null ${where}` : `delete from warmup_ledgers ${where}`;
  await sequelize().query(sql, { bind: [companyId, id], transaction });
}
