/**
 * Drops monthly tables of hits (models/hit.ts) once no company keeps any of them: the table is detached, its counts are
 * subtracted company by company, then it is dropped. The next run continues what one leaves.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceBroker } from "moleculer";
import { query, queryOne } from "../../models/database/db.ts";

const OLD = `
  select to_char(month, 'YYYY-MM-DD') as month, detached_at is not null as is_detached from hit_parts
  where month < date_trunc('month', now() at time zone 'UTC') order by month`;
// Runs with the owner's rights. It waits at most half a second for its lock, because other statements queue behind it.
const DETACH = "select detach_hit_part($1, $2) as done";
const DROP = "select drop_hit_part($1) as more";

const LOCK_NOT_AVAILABLE = "55P03";
const TRIES = 5;
const RETRY_MS = 2_000;

async function detach(month: string, defaultDays: number | null): Promise<boolean> {
  for (let tried = 1; ; tried++) {
    try {
      return (await queryOne<{ done: boolean }>(DETACH, [month, defaultDays]))!.done;
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
      if (tried === TRIES) return false;
      await sleep(RETRY_MS);
    }
  }
}

/** `defaultDays`: retention of companies without their own setting; null keeps events forever. */
export async function dropHitParts(broker: ServiceBroker, defaultDays: number | null, until: number): Promise<void> {
  for (const { month, is_detached } of await query<{ month: string; is_detached: boolean }>(OLD)) {
    if (!is_detached && !(await detach(month, defaultDays))) continue;
    for (let more = true; more; ) {
      if (performance.now() > until) return;
      more = (await queryOne<{ more: boolean }>(DROP, [month]))!.more;
    }
    broker.logger.info(`Table of hits of ${month.slice(0, 7)} dropped: the retention of all companies has expired`);
  }
}
