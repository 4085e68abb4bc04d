/**
 * A month of hits (models/hit.ts) goes as a table once no company keeps anything of it, however many there were: it is detached,
 * then company by company no longer counted, and dropped. What a run leaves is done by the next.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceBroker } from "moleculer";
import { query, queryOne } from "../../models/database/db.ts";

const OLD = `
  select to_char(month, 'YYYY-MM-DD') as month, detached_at is not null as is_detached from hit_parts
  where month < date_trunc('month', now() at time zone 'UTC') order by month`;
// By the owner's rights. For its lock it waits half a second at most, and others wait behind it.
const DETACH = "select detach_hit_part($1, $2) as done";
const DROP = "select drop_hit_part($1) as more";

const LOCK_NOT_AVAILABLE = "55P03";
const TRIES = 5;
const AGAIN_MS = 2_000;

async function detach(month: string, defaultDays: number | null): Promise<boolean> {
  for (let tried = 1; ; tried++) {
    try {
      return (await queryOne<{ done: boolean }>(DETACH, [month, defaultDays]))!.done;
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
      if (tried === TRIES) return false;
      await sleep(AGAIN_MS);
    }
  }
}

/** `defaultDays`: how long events of a company are kept that says nothing; null: for ever. */
export async function dropHitParts(broker: ServiceBroker, defaultDays: number | null, until: number): Promise<void> {
  for (const { month, is_detached } of await query<{ month: string; is_detached: boolean }>(OLD)) {
    if (!is_detached && !(await detach(month, defaultDays))) continue;
    for (let more = true; more; ) {
      if (performance.now() > until) return;
      more = (await queryOne<{ more: boolean }>(DROP, [month]))!.more;
    }
    broker.logger.info(`The hits of ${month.slice(0, 7)} were dropped: no company keeps any of them`);
  }
}
