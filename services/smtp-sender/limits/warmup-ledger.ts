/**
 * Counts the warm-up days of SMTP configurations in PostgreSQL: one row each, whose lock serializes all senders.
 * Volumes are small at first and one statement serves a group of emails, so no faster counter is needed, and only
 * PostgreSQL can lose the count.
 *
 * Tokens of unsent emails are returned. Those of a killed sender stay used, because its emails may have been sent.
 */
import type { Transaction } from "sequelize";
import { query, queryOne, sequelize } from "../../../models/database/db.ts";
import type { SmtpConfig } from "../../../models/smtp-config.ts";
import type { Day } from "./hour-limit.ts";

/** Time before midnight in which nothing is granted: an email counts on the day on which its server accepts it. */
const CLOSED_BEFORE_MIDNIGHT_MS = 10_000;
/** Minimum life of a token. */
const TRANSFER_MS = 5_000;

export interface DayGrant {
  /** Between 0 and the requested number. */
  granted: number;
  day: Day;
  /** Life of the tokens. */
  lifeMs: number;
  /** Milliseconds until the next day. */
  leftMs: number;
}

interface Configuration {
  company_id: string;
  smtp_config_id: string;
}

// Computed exactly, in decimals: 1000 × 1.15 is 1150 and not slightly less. Beyond e^30 times the start, the final
// number applies anyway.
const NUMBER_OF_DAY = `least(w.until_per_day, case when (d.step - 1) * ln(w.factor::float8) > 30 then w.until_per_day
  else floor(w.start_per_day * w.factor ^ (d.step - 1)) end)::int`;

// Reads the row once it is locked. A day started by another sender is not left because of an older clock reading, or a
// time zone in which it has not started. Days without mail do not count.
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
    select r.*, case when r.left_ms < ${CLOSED_BEFORE_MIDNIGHT_MS} then 0 else greatest(0, least($3, r.of_day - r.taken)) end as granted
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

/** Takes up to `n` tokens of the current day. Undefined: the warm-up has ended, and every email may be sent. */
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

/** Returns tokens of that day that were not used. */
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
 * Called when the warm-up settings change: clears the waiting note until a sender finds the limit reached again. Emails
 * sent today stay counted; without a warm-up nothing is counted, and a later one starts with its first day.
 */
export async function warmupChanged(
  { companyId, id, warmup }: Pick<SmtpConfig, "companyId" | "id" | "warmup">,
  transaction: Transaction,
): Promise<void> {
  const where = "where company_id = $1 and smtp_config_id = $2";
  const sql = warmup ? `update warmup_ledgers set full_until = null ${where}` : `delete from warmup_ledgers ${where}`;
  await sequelize().query(sql, { bind: [companyId, id], transaction });
}
