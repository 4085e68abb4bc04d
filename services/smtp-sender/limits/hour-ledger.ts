/**
 * Stores the ledger of hourly limits in PostgreSQL: one row per company that sent under a limit, with its one-minute
 * buckets. Counting recipient rows instead would miss transactional mail sent twice after a doubt, mail held by a
 * killed sender, and mail of deleted campaigns.
 *
 * All statements lock the row, so that the next epoch either includes a grant or refuses it.
 */
import { query, queryOne } from "../../../models/database/db.ts";
import { bucketMs, type Ledger, type Window } from "../../lib/limits/limiter.ts";

const WRITE = `
  update hour_ledgers set taken =
    (select coalesce(jsonb_object_agg(bucket, n), '{}') from jsonb_each(taken) kept (bucket, n) where bucket::bigint > $5)
    || jsonb_build_object($3::text, coalesce((taken->>$3::text)::int, 0) + $4::int)
  where company_id = $1 and epoch = $2
  returning 1`;

const GIVE = `
  update hour_ledgers set taken = taken || jsonb_build_object($2::text, greatest(0, (taken->>$2::text)::int - $3::int))
  where company_id = $1 and taken ? $2::text`;

const BEGIN = "update hour_ledgers set epoch = epoch + 1 where company_id = $1 returning epoch, taken";

// Initial count per company, from campaigns touched within the window.
const FIRST = `
  insert into hour_ledgers (company_id, taken)
  select $1, coalesce(jsonb_object_agg(bucket, n), '{}')
  from (
    select floor(extract(epoch from e.sent_at) * 1000 / $2)::bigint as bucket, sum(1 + copies_of(e.cc, e.bcc)) as n
    from campaigns c
    join sent_emails e on e.campaign_no = c.no
      and e.sent_at > now() - $3 * interval '1 millisecond'
    where c.company_id = $1 and c.updated_at > now() - $3 * interval '1 millisecond'
    group by 1) sent
  on conflict (company_id) do nothing`;

const companyOf = ({ key }: Window) => key.slice("hour:".length);

export const hourLedger: Ledger = {
  async write(window, epoch, bucket, n) {
    const values = [companyOf(window), epoch, bucket, n, bucket - window.buckets - 2];
    return (await query(WRITE, values)).length > 0;
  },

  async giveBack(window, bucket, n) {
    await query(GIVE, [companyOf(window), bucket, n]);
  },

  async begin(window) {
    const key = [companyOf(window)];
    const begin = () => queryOne<{ epoch: number; taken: Record<string, number> }>(BEGIN, key);
    let row = await begin();
    if (!row) {
      await query(FIRST, [...key, bucketMs(window), window.windowMs + 2 * bucketMs(window)]);
      row = await begin();
    }
    if (!row) throw new Error("The company was deleted.");
    return { epoch: Number(row.epoch), taken: Object.entries(row.taken).map(([bucket, n]) => [Number(bucket), n]) };
  },
};
