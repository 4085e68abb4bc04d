/**
 * Puts subscribers into the index that search uses, some time after they were written: an import would take twice as long if
 * it did so itself (models/migrations/0042_subscriber_search.sql). Rows that somebody has locked are left for the next run.
 *
 * It costs PostgreSQL 60 µs of CPU a person (`node test/bench moving`; 40 before the index had the company), and nobody waits
 * for it: until then they are found by reading them. So it has half of one core at most, however many nodes there are and
 * however many people came.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceBroker } from "moleculer";
import { query } from "../../models/database/db.ts";
import { bulkSteps } from "../lib/give-way.ts";

/** Whoever wants to write one of them waits until all are done: some 40 ms. */
const AT_ONCE = 1_000;
const MAX_RUN_MS = 10_000;
/** Where another node is at it. */
const BUSY_PAUSE_MS = 200;

/** For the shared look. */
export const ANY_TO_SEARCH = "select from subscribers where not in_search order by company_id";

// One node at a time. By the place of the rows, which their lock keeps: by their keys it took 3 µs a person longer.
const ADD = `
  with turn as materialized (select pg_try_advisory_xact_lock(hashtextextended('subscribers into search', 0)) as held),
  added as (
    update subscribers set in_search = true
    where ctid = any (array(
      select ctid from subscribers where not in_search and (select held from turn)
      limit $1 for no key update skip locked))
    returning 1)
  select held, (select count(*) from added) as n from turn`;

const add = async (limit: number) => (await query<{ held: boolean; n: number }>(ADD, [limit]))[0]!;

/** How many. */
export async function addToSearch(broker: ServiceBroker): Promise<number> {
  const until = Date.now() + MAX_RUN_MS;
  let done = 0;
  for (;;) {
    const began = Date.now();
    const limit = bulkSteps.rows(undefined, AT_ONCE);
    const { held, n } = await bulkSteps.run(undefined, () => add(limit));
    done += n;
    if ((held && n < limit) || broker.stopping || Date.now() > until) return done;
    await sleep(held ? Date.now() - began : BUSY_PAUSE_MS);
  }
}
