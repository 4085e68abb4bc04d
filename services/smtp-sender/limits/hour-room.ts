/** What the company may still send within the rolling hour. */
import { queryOne } from "../../../models/database/db.ts";
import { config } from "../../lib/config.ts";
import { notFound } from "../../lib/errors.ts";
import { hourWindow, type Limiter } from "../../lib/limits/limiter.ts";

export async function hourRoom(companyId: string, limiter: Limiter) {
  const plan = await queryOne<{ smtp_per_hour: number | null }>(
    "select p.smtp_per_hour from companies c join plans p on p.name = c.plan where c.id = $1",
    [companyId],
  );
  if (!plan) throw notFound();
  const limit = plan.smtp_per_hour;
  const window = hourWindow(companyId, limit, config().LIMIT_WINDOW_SECONDS);
  const { used, retryAfterMs } = await limiter.used(window);
  return {
    limit,
    used,
    room: limit === null ? null : Math.max(0, limit - used),
    retry_after_seconds: limit === null ? 0 : Math.ceil((retryAfterMs || window.windowMs) / 1_000),
  };
}
