/**
 * The ledger of companies' hours, in PostgreSQL: one row for each company that sent under a limit, written for a block of
 * mails at a time, before any of them may leave. A row holds some sixty sums, whatever the limit. It does not ask the rows
 * of recipients: those say nothing of a transactional mail that was in doubt and sent again, of one in the hands of a
 * sender that was killed, or of a campaign that was deleted.
 *
 * Both statements take the row's lock, so that a reservation is either read by the next beginning or refused by it.
 */
import { query, queryOne } from "../../../models/database/db.ts";
import { blockLifeMs, bucketMs, type Ledger, type Window } from "../../lib/limits/limiter.ts";

const NOW = "extract(epoch from clock_timestamp()) * 1000";

// When the lock was waited for, the clock is read after it: never earlier than a mail may leave.
const RESERVE = `
  update hour_ledgers l set taken = (
    select jsonb_object_agg(until, n)
    from (
      select until, sum(n) as n
      from (
        select key::float8 as until, value::float8 as n from jsonb_each_text(l.taken)
        union all
        select ceil((${NOW} + $4) / $5) * $5, $3) blocks
      where until > ${NOW} - $6
      group by until) sums)
  where company_id = $1 and epoch = $2
  returning 1`;

const BEGIN = `update hour_ledgers set epoch = $2 where company_id = $1 returning taken, ${NOW} as now`;

// Once for each company. Only campaigns that were touched within the window.
const FIRST = `
  insert into hour_ledgers (company_id, epoch, taken)
  select $1, $2, coalesce(jsonb_object_agg(until, n), '{}')
  from (
    select ceil(extract(epoch from e.sent_at) * 1000 / $3) * $3 as until, sum(1 + copies_of(e.cc, e.bcc)) as n
    from campaigns c
    join sent_emails e on e.campaign_no = c.no
      and e.sent_at > now() - $4 * interval '1 millisecond'
    where c.company_id = $1 and c.updated_at > now() - $4 * interval '1 millisecond'
    group by 1) sent
  on conflict (company_id) do nothing`;

const companyOf = ({ key }: Window) => key.slice("hour:".length);

export const hourLedger: Ledger = {
  async reserve(window, epoch, n) {
    const widthMs = bucketMs(window);
    const keptMs = window.windowMs + 2 * widthMs;
    const values = [companyOf(window), epoch, n, blockLifeMs(window), widthMs, keptMs];
    return (await query(RESERVE, values)).length > 0;
  },

  async begin(window, epoch) {
    const values = [companyOf(window), epoch];
    const read = () => queryOne<{ taken: Record<string, number>; now: number }>(BEGIN, values);
    let row = await read();
    if (!row) {
      const widthMs = bucketMs(window);
      await query(FIRST, [...values, widthMs, window.windowMs + 2 * widthMs]);
      row = await read();
    }
    return Object.entries(row?.taken ?? {}).map(([until, n]) => [Math.floor(Number(row!.now) - Number(until)), n]);
  },
};
