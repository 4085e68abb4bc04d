/**
 * Puts subscribers into the index that search uses, some time after they were written: an import would take twice as long if
 * it did so itself (models/migrations/0042_subscriber_search.sql). Rows that somebody has locked are left for the next run.
 *
 * It costs PostgreSQL 60 µs of CPU a person (`node test/bench moving`; 40 before the index had the company), and nobody waits
 * for it: until then they are found by reading them. So it has half of one core at most, however many nodes there are and
 * however many people came.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { ServiceBroker } from "moleculer";
import { query } from "../../models/database/db.ts";
import { refreshStatistics } from "../../models/statements/refresh-statistics.ts";
import { atMost } from "../lib/at-most.ts";

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
    returning company_id)
  select held, (select count(*) from added) as n,
    (select jsonb_object_agg(company_id, n) from (select company_id, count(*) as n from added group by 1) c) as by_company
  from turn`;

interface Added {
  held: boolean;
  n: number;
  by_company: Record<string, number> | null;
}

const add = async (limit: number) => (await query<Added>(ADD, [limit]))[0]!;

/** So many of a company may come before it is asked whether PostgreSQL still knows it. */
const LOOKED_AT = 500;
const MAX_COMPANIES = 10_000;
/** Whoever wrote them: imports, sends, forms and single requests. */
const came = new LRUCache<string, number>(atMost(MAX_COMPANIES));

function noteGrowth(byCompany: Record<string, number>): void {
  for (const [companyId, n] of Object.entries(byCompany)) came.set(companyId, (came.get(companyId) ?? 0) + n);
}

/** Once for all that a run brought: an import of many takes one, in slices. */
async function lookAtGrown(): Promise<void> {
  for (const [companyId, n] of [...came.entries()]) {
    if (n < LOOKED_AT) continue;
    came.delete(companyId);
    await refreshStatistics(companyId);
  }
}

/** How many. */
export async function addToSearch(broker: ServiceBroker): Promise<number> {
  const done = await addSlices(broker);
  await lookAtGrown();
  return done;
}

async function addSlices(broker: ServiceBroker): Promise<number> {
  const until = Date.now() + MAX_RUN_MS;
  let done = 0;
  for (;;) {
    const began = Date.now();
    const { held, n, by_company: byCompany } = await add(AT_ONCE);
    done += n;
    noteGrowth(byCompany ?? {});
    if ((held && n < AT_ONCE) || broker.stopping || Date.now() > until) return done;
    await sleep(held ? Date.now() - began : BUSY_PAUSE_MS);
  }
}
