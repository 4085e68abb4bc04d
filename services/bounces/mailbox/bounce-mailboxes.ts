/**
 * Leases of mailboxes: one node reads a mailbox and renews its lease while it runs. Each claim is one SQL statement, so
 * that only one node gets a row. Mailboxes of all companies are claimed alike.
 */
import { query } from "../../../models/database/db.ts";

export interface ClaimedMailbox {
  id: string;
  company_id: string;
  host: string;
  port: number;
  username: string;
  password_sealed: Buffer;
  use_tls: boolean;
  folder: string;
  processed_folder: string;
  origin: string;
  revision: number;
  failures: number;
}

/** Mailboxes of a node that died become free after this time. */
export const MAILBOX_LEASE_SECONDS = 30;
const LEASE = `now() + make_interval(secs => ${MAILBOX_LEASE_SECONDS})`;

/**
 * If several configurations name one folder, only the oldest reads it: servers move a message twice on concurrent
 * requests.
 */
const CLAIM = `
  with due as (
    select id from bounce_mailboxes m
    where next_attempt_at <= now() and (lease_until is null or lease_until < now())
      and not exists (select from bounce_mailboxes o where o.origin = m.origin and o.id < m.id)
    order by next_attempt_at limit $2 for update skip locked)
  update bounce_mailboxes m set reader = $1, lease_until = ${LEASE}
  from due where m.id = due.id
  returning m.id, m.company_id, m.host, m.port, m.username, m.password_sealed, m.use_tls, m.folder, m.processed_folder,
    m.origin, m.revision, m.failures`;

export const claimMailboxes = (reader: string, limit: number): Promise<ClaimedMailbox[]> =>
  query<ClaimedMailbox>(CLAIM, [reader, limit]);

/**
 * Renews leases and returns the ids that this node still holds unchanged. A node that was frozen may have lost some.
 */
export async function renewMailboxes(reader: string, held: readonly ClaimedMailbox[]): Promise<Set<string>> {
  const rows = await query<{ id: string }>(
    `update bounce_mailboxes m set lease_until = ${LEASE}
     from unnest($2::uuid[], $3::int[]) h (id, revision)
     where m.id = h.id and m.revision = h.revision and m.reader = $1 returning m.id`,
    [reader, held.map(({ id }) => id), held.map(({ revision }) => revision)],
  );
  return new Set(rows.map(({ id }) => id));
}

const OWN = "company_id = $1 and id = $2 and reader = $3 and revision = $4";
/** Includes other configurations that name the same folder. */
const ALL = `company_id = $1 and origin = $5 and exists (select from bounce_mailboxes where ${OWN})`;
const keyValues = ({ company_id, id, revision }: ClaimedMailbox, reader: string) => [company_id, id, reader, revision];

/** Makes the mailbox available to other nodes at once. */
export async function releaseMailbox(reader: string, box: ClaimedMailbox): Promise<void> {
  await query(`update bounce_mailboxes set reader = null, lease_until = null where ${OWN}`, keyValues(box, reader));
}

export async function mailboxWorks(reader: string, box: ClaimedMailbox): Promise<void> {
  await query(
    `update bounce_mailboxes set failures = 0, last_error = null, last_error_at = null
     where (failures > 0 or last_error is not null) and ${ALL}`,
    [...keyValues(box, reader), box.origin],
  );
}

export async function mailboxFailed(
  reader: string,
  box: ClaimedMailbox,
  error: string,
  pauseSeconds: number,
): Promise<void> {
  await query(
    `update bounce_mailboxes set reader = null, lease_until = null, failures = failures + 1, last_error = $6,
       last_error_at = now(), next_attempt_at = now() + make_interval(secs => $7)
     where ${ALL}`,
    [...keyValues(box, reader), box.origin, error, pauseSeconds],
  );
}

/** Returns the keys that were ingested before, and renews them because the messages are still in the mailbox. */
export async function seenOf(companyId: string, origin: string, keys: readonly string[]): Promise<Set<string>> {
  const rows = await query<{ key: string }>(
    `update inbound_seen set seen_at = now()
     where company_id = $1 and origin = $2 and key = any($3::text[]) returning key`,
    [companyId, origin, keys],
  );
  return new Set(rows.map(({ key }) => key));
}
