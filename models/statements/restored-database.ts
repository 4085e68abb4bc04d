/**
 * Detects and handles a database restored from a backup, which does not know what was sent after the backup: recipients
 * look as if they waited. Senders record the database they work on. If it is another one, all running newsletters, and
 * scheduled ones that are due, are stopped before anything is claimed; their recipients end as unknown, and only a
 * resume sends again. Transactional mail continues, as in any doubt (two receipts are better than none).
 */
import { moveAllTo } from "../campaign-lifecycle.ts";
import { type Client, query, queryOne, transaction } from "../database/db.ts";
import { SENT_EMAIL_STATUS } from "../sent-email-status.ts";
import { auditWithin, SYSTEM } from "./audit-log.ts";
import { noticeToOwnersWithin } from "./queue-system-mail.ts";

const RESTORED_ERROR =
  "Stopped: the database was restored from a backup, and does not know who got this mail after that was made. Resume sends it to everybody who is not known to have it.";

/** Database as known so far. The name is that of `identityOf`; the timeline is null if the role may not read it. */
export interface DatabaseIdentity {
  name: string;
  timeline: string | null;
}

interface Recorded {
  worked_on: string | null;
  worked_on_timeline: string | null;
}

const READ = "select worked_on, worked_on_timeline from installation";

/** pg_restore adds primary keys after the rows of all tables. */
const IS_COMPLETE = `select count(*) = 4 as is_complete from pg_constraint where contype = 'p'
  and conrelid in (to_regclass('installation'), to_regclass('campaigns'), to_regclass('send_chunks'), to_regclass('sent_email_copies'))`;

/** Fails while a dump is still being restored. */
export async function readRecorded(): Promise<Recorded> {
  const found = await queryOne<{ is_complete: boolean }>(IS_COMPLETE);
  if (!found!.is_complete) throw new Error("The database is still being restored");
  return (await queryOne<Recorded & Record<string, unknown>>(READ))!;
}

export const isRecorded = (
  { worked_on, worked_on_timeline }: Recorded,
  { name, timeline }: DatabaseIdentity,
): boolean =>
  worked_on === name && (worked_on_timeline === null || timeline === null || worked_on_timeline === timeline);

const RECORD = "update installation set worked_on = $1, worked_on_timeline = $2";

export const recordDatabase = async ({ name, timeline }: DatabaseIdentity): Promise<void> =>
  void (await query(RECORD, [name, timeline]));

/**
 * Written by `ops restored` for a restore that cannot be detected: senders then find a database that they do not know.
 */
export const MARK_RESTORED = "update installation set worked_on = 'restored', worked_on_timeline = null";

/** Bounds how long their rows stay locked. */
const CAMPAIGNS_AT_ONCE = 500;

/** Newsletters, including scheduled ones that are due. */
export const WOULD_BE_RESENT = `
  select c.id, c.company_id, c.name, c.status, o.name as company
  from campaigns c join companies o on o.id = c.company_id
  where not c.is_transactional and c.error is null and c.deleted_at is null
    and (c.status in ('pending', 'sending') or c.status = 'scheduled' and coalesce(c.starts_at, c.scheduled_for) <= now())
  order by c.id limit ${CAMPAIGNS_AT_ONCE} for no key update of c`;

const STOP = `
  update campaigns c set error = $3, stopped_at = now(), restored = true, updated_at = now()
  from unnest($1::uuid[], $2::uuid[]) w (company_id, id) where c.id = w.id and c.company_id = w.company_id`;

const ABANDON_COPIES = `
  update sent_email_copies e set status = ${SENT_EMAIL_STATUS.unknown}, next_attempt_at = null, error = $1
  from campaigns c
  where e.next_attempt_at is not null and c.id = e.campaign_id and c.company_id = e.company_id and not c.is_transactional`;

interface Underway {
  id: string;
  company_id: string;
  name: string;
  status: string;
  company: string;
}

async function stopSome(client: Client): Promise<number> {
  const found = await query<Underway>(WOULD_BE_RESENT, [], client);
  // Includes these campaigns, so that a resume knows their recipients.
  const due = found.filter(({ status }) => status === "scheduled").map(({ id }) => id);
  await moveAllTo(client, due, "pending");
  const columns = [found.map(({ company_id }) => company_id), found.map(({ id }) => id)];
  await query(STOP, [...columns, RESTORED_ERROR], client);
  for (const { id, company_id, name, company } of found) {
    const detail = { by: "restored database" };
    await auditWithin(client, company_id, SYSTEM, { action: "campaign.stopped", target: id, detail });
    const data = { company, campaign: name, reason: RESTORED_ERROR };
    await noticeToOwnersWithin(client, company_id, "campaign_stopped", data);
  }
  return found.length;
}

/** Stops them, and records the database: once, if several senders find it. Returns how many were stopped. */
export async function stopNewsletters(database: DatabaseIdentity): Promise<number> {
  for (let stopped = 0; ; ) {
    const now = await transaction(async (client) => {
      const recorded = (await queryOne<Recorded & Record<string, unknown>>(`${READ} for update`, [], client))!;
      if (isRecorded(recorded, database)) return 0;
      const some = await stopSome(client);
      if (some === CAMPAIGNS_AT_ONCE) return some;
      await query(ABANDON_COPIES, [RESTORED_ERROR], client);
      await query(RECORD, [database.name, database.timeline], client);
      return some;
    });
    stopped += now;
    if (now < CAMPAIGNS_AT_ONCE) return stopped;
  }
}
