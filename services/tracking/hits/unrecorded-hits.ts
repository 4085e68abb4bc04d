/** Counts opens and clicks that are not recorded, because one address had too many per minute on one message. */
import { query } from "../../../models/database/db.ts";
import { retryOnConflict } from "../../../models/database/retry-on-conflict.ts";
import { mailsOf } from "../../../models/statements/mail-key.ts";
import type { Hit } from "./classify-hits.ts";

// Counts hits per hour for operators. On a tracking domain only messages of its company count.
const COUNT = `
  insert into campaign_counts as c (company_id, campaign_id, metric, bucket, slot, n)
  select k.company_id, k.id, h.type || '_unrecorded', h.hour, pg_backend_pid() % 8, count(*)
  from unnest($1::integer[], $2::text[], $3::integer[], $4::uuid[]) h (campaign_no, type, hour, host_of)
  join campaigns k on k.no = h.campaign_no and k.deleted_at is null and k.company_id = coalesce(h.host_of, k.company_id)
  group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (company_id, campaign_id, metric, bucket, slot) do update set n = c.n + excluded.n`;

const HOUR_MS = 3_600_000;

export async function countUnrecorded(hits: readonly Hit[]): Promise<undefined[]> {
  const mails = new Map((await mailsOf(hits.map(({ sentEmailId }) => sentEmailId))).map((mail) => [mail.id, mail]));
  const values = [
    hits.map(({ sentEmailId }) => mails.get(sentEmailId)?.campaign_no),
    hits.map(({ link }) => (link === 0 ? "opened" : "clicked")),
    hits.map(({ at }) => Math.floor(at.getTime() / HOUR_MS)),
    hits.map(({ hostOf }) => hostOf),
  ];
  await retryOnConflict(() => query(COUNT, values));
  return hits.map(() => undefined);
}
