/**
 * Queue of provider reports that were acknowledged but not yet applied. Each claim is one SQL statement, so that only
 * one node gets a row. The queue is shared by all companies.
 */

import { prepared, query, queryOne } from "../../models/database/db.ts";
import type { ProviderName } from "../../models/inbound-source.ts";
import { newId } from "../lib/ids.ts";

export interface StoredReport {
  id: string;
  company_id: string;
  source_id: string;
  provider: ProviderName;
  smtp_config_id: string | null;
  body: string;
  attempts: number;
}

/** Reports leased by a node that died become available again after this time (seconds). */
const LEASE_SECONDS = 60;

const ADD = `
  insert into inbound_reports (id, company_id, source_id, body, next_attempt_at)
  values ($1, $2, $3, $4, now() + make_interval(secs => ${LEASE_SECONDS}))`;

/** Adds a report that this node holds a lease on. */
export async function addReport(companyId: string, sourceId: string, body: string): Promise<string> {
  const id = newId();
  await prepared("add a provider's report", ADD, [id, companyId, sourceId, body]);
  return id;
}

const CLAIM = `
  with due as (
    select id from inbound_reports where next_attempt_at <= now()
    order by next_attempt_at limit $1 for update skip locked)
  update inbound_reports r set attempts = r.attempts + 1, next_attempt_at = now() + make_interval(secs => ${LEASE_SECONDS})
  from due, inbound_sources s
  where r.id = due.id and s.id = r.source_id and s.company_id = r.company_id
  returning r.id, r.company_id, r.source_id, s.provider, s.smtp_config_id, r.body, r.attempts`;

export const claimReports = (limit: number): Promise<StoredReport[]> => query<StoredReport>(CLAIM, [limit]);

export async function finishReport(companyId: string, id: string): Promise<void> {
  await prepared("finish a provider's report", "delete from inbound_reports where company_id = $1 and id = $2", [
    companyId,
    id,
  ]);
}

export async function deferReport(companyId: string, id: string, seconds: number): Promise<void> {
  await query(
    `update inbound_reports set next_attempt_at = now() + make_interval(secs => $3) where company_id = $1 and id = $2`,
    [companyId, id, seconds],
  );
}

/** The second of two concurrent transactions waits for the first to commit and then returns no row. */
export const INSERT_SEEN = `
  insert into inbound_seen (company_id, origin, key)
  select * from unnest($1::uuid[], $2::uuid[], $3::text[]) m (company_id, origin, key) order by origin, key
  on conflict do nothing returning origin, key`;

/** Binds a token to the first body it was sent with; the same body may be sent again. */
const CLAIM_TOKEN = `
  with first as (
    insert into inbound_seen (company_id, origin, key) values ($1, $2, $3) on conflict do nothing returning key),
  bound as (
    insert into inbound_seen (company_id, origin, key) select $1, $2, $4 from first on conflict do nothing)
  select exists (select from first)
    or exists (select from inbound_seen where company_id = $1 and origin = $2 and key = $4) as good`;

/** Returns false if the token was sent with another body before. */
export async function claimToken(
  { companyId, id }: { companyId: string; id: string },
  tokenHash: string,
  bodyHash: string,
): Promise<boolean> {
  const key = `token ${tokenHash}`;
  const row = await queryOne<{ good: boolean }>(CLAIM_TOKEN, [companyId, id, key, `${key} ${bodyHash}`]);
  return row!.good;
}

/** Sets the source's topic unless it has one, and returns the current topic. */
export async function bindTopic(companyId: string, id: string, topic: string): Promise<string | null> {
  const row = await queryOne<{ topic: string }>(
    `update inbound_sources set topic = coalesce(topic, $3), updated_at = now()
     where company_id = $1 and id = $2 returning topic`,
    [companyId, id, topic],
  );
  return row?.topic ?? null;
}

const PURGED_AT_ONCE = 5_000;

/**
 * Deletes deduplication keys older than any provider's retries. Keys of messages that remain in a mailbox are renewed.
 */
export async function purgeSeen(): Promise<void> {
  for (;;) {
    const deleted = await query(
      `delete from inbound_seen where (origin, key) in (
         select origin, key from inbound_seen where seen_at < now() - interval '30 days' limit ${PURGED_AT_ONCE})
       returning 1`,
    );
    if (deleted.length < PURGED_AT_ONCE) return;
  }
}
