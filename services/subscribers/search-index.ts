/**
 * Puts subscribers into the index that search uses, some time after they were written: an import would take twice as long if
 * it did so itself (models/migrations/0042_subscriber_search.sql). Rows that somebody has locked are left for the next run.
 */
import type { ServiceBroker } from "moleculer";
import { query } from "../../models/database/db.ts";

/** Whoever wants to write one of them waits until all are done. */
const AT_ONCE = 2_000;
const MAX_RUN_MS = 10_000;

const ADD = `
  with next as (
    select company_id, id from subscribers where not in_search limit ${AT_ONCE} for no key update skip locked)
  update subscribers s set in_search = true from next
  where s.company_id = next.company_id and s.id = next.id returning 1`;

/** How many. */
export async function addToSearch(broker: ServiceBroker): Promise<number> {
  const until = Date.now() + MAX_RUN_MS;
  let done = 0;
  for (;;) {
    const added = (await query(ADD)).length;
    done += added;
    if (added < AT_ONCE || broker.stopping || Date.now() > until) return done;
  }
}
