/**
 * A restart forgets what the limiter of the process, or a Redis without its data, had counted: it is counted again from the
 * rows. Only campaigns that were touched within the window, only companies with a limit: at most what the limits allow.
 */
import { query } from "../../../models/database/db.ts";
import { config } from "../../lib/config.ts";
import { bucketMs, hourWindow, type Window } from "../../lib/limits/limiter.ts";
import type { MemoryLimiter } from "../../lib/limits/limiter-memory.ts";

const SENT = `
  select c.company_id, p.smtp_per_hour, floor(extract(epoch from e.sent_at) * 1000 / $2)::float8 as bucket,
    count(*)::int as n
  from campaigns c
  join companies co on co.id = c.company_id
  join plans p on p.name = co.plan and p.smtp_per_hour is not null
  join sent_emails e on e.campaign_id = c.id and e.company_id = c.company_id
    and e.sent_at > now() - $1 * interval '1 second'
  where c.updated_at > now() - $1 * interval '1 second' and ($3::uuid is null or c.company_id = $3)
  group by 1, 2, 3`;

function sentWithin(window: Window, companyId: string | null) {
  const width = bucketMs(window);
  // A bucket counts until the whole of it is older than the window, so one more of them is asked for.
  const values = [(window.windowMs + width) / 1_000, width, companyId];
  return query<{ company_id: string; smtp_per_hour: number; bucket: number; n: number }>(SENT, values);
}

export async function rememberHours(limiter: MemoryLimiter): Promise<void> {
  const seconds = config().LIMIT_WINDOW_SECONDS;
  const window = hourWindow("", null, seconds);
  for (const { company_id, smtp_per_hour, bucket, n } of await sentWithin(window, null)) {
    limiter.remember(hourWindow(company_id, smtp_per_hour, seconds), bucket * bucketMs(window), n);
  }
}

/** Of the company whose hour it is. What is in the air at this moment is missing: no more than senders hold in doubt. */
export async function sentInHour(window: Window): Promise<[bucket: number, n: number][]> {
  const rows = await sentWithin(window, window.key.slice("hour:".length));
  return rows.map(({ bucket, n }) => [bucket, n]);
}
