/**
 * A database that was restored from a backup does not know what left after that was made: whoever was mailed then looks as if
 * he waited. Senders write down which database they work on. Where it is another one, all newsletters that are being sent, and
 * those whose time has come, are stopped before anything is claimed; their recipients end as unknown, and only a resume sends
 * again. Transactional mail goes on, as it does whenever nobody knows (a receipt twice beats no receipt).
 */
import { moveAllTo } from "../campaign-lifecycle.ts";
import { type Client, query, queryOne, transaction } from "../database/db.ts";
import { SENT_EMAIL_STATUS } from "../sent-email-status.ts";
import { auditWithin, SYSTEM } from "./audit-log.ts";
import { noticeToOwnersWithin } from "./queue-system-mail.ts";

export const RESTORED_ERROR =
  "Stopped: the database was restored from a backup, and does not know who got this mail after that was made. Resume sends it to everybody who is not known to have it.";

/** As senders have it; a part of the name that cannot be read is left out by all of them. */
export interface Place {
  name: string;
  timeline: string | null;
}

export interface WorkedOn {
  worked_on: string | null;
  worked_on_timeline: string | null;
  worked_at_ms: number | null;
}

const READ = `select worked_on, worked_on_timeline, extract(epoch from worked_at)::float8 * 1000 as worked_at_ms
  from installation`;

// Keys come after all rows of their tables.
const IS_COMPLETE = `select count(*) = 4 as is_complete from pg_constraint where contype = 'p'
  and conrelid in (to_regclass('installation'), to_regclass('campaigns'), to_regclass('send_chunks'), to_regclass('sent_emails_full'))`;

/** Fails while a dump is still being restored. */
export async function readWorkedOn(): Promise<WorkedOn> {
  const found = await queryOne<{ is_complete: boolean }>(IS_COMPLETE);
  if (!found!.is_complete) throw new Error("The database is still being restored");
  return (await queryOne<WorkedOn & Record<string, unknown>>(READ))!;
}

export const isPlace = ({ worked_on, worked_on_timeline: timeline }: WorkedOn, place: Place): boolean =>
  worked_on === place.name && (timeline === null || place.timeline === null || timeline === place.timeline);

const TAKE = "update installation set worked_on = $1, worked_on_timeline = $2, worked_at = now()";
const AGAIN = `update installation set worked_at = now()
  where worked_on = $1 and coalesce(worked_on_timeline = $2, true)
  returning extract(epoch from worked_at)::float8 * 1000 as at_ms`;

/** Senders work on it from now on. */
export const takePlace = async ({ name, timeline }: Place): Promise<void> => void (await query(TAKE, [name, timeline]));

/** They still do. The database's clock, in milliseconds; undefined: it says that it was restored. */
export async function stayAt({ name, timeline }: Place): Promise<number | undefined> {
  return (await queryOne<{ at_ms: number }>(AGAIN, [name, timeline]))?.at_ms;
}

/** Said by an operator where nothing shows it: the next look of a sender finds a database that it does not know. */
export const MARK_RESTORED = "update installation set worked_on = 'restored', worked_on_timeline = null";
export const markRestored = async (): Promise<void> => void (await query(MARK_RESTORED));

/** Their rows stay locked for some tenths of a second; senders have not begun yet. */
const CAMPAIGNS_AT_ONCE = 500;

/** Newsletters; those that are scheduled once their time has come. */
export const WOULD_COME_AGAIN = `
  select c.id, c.company_id, c.name, c.status, o.name as company
  from campaigns c join companies o on o.id = c.company_id
  where not c.is_transactional and c.error is null and c.deleted_at is null
    and (c.status in ('pending', 'sending') or c.status = 'scheduled' and coalesce(c.starts_at, c.scheduled_for) <= now())
  order by c.id limit ${CAMPAIGNS_AT_ONCE} for no key update of c`;

const STOP = `
  update campaigns c set error = $3, stopped_at = now(), restored = true, updated_at = now()
  from unnest($1::uuid[], $2::uuid[]) w (company_id, id) where c.id = w.id and c.company_id = w.company_id`;

const LEAVE_COPIES = `
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
  const found = await query<Underway>(WOULD_COME_AGAIN, [], client);
  // Recipients are written for those too, so that a resume knows them.
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

/** Stops them, and takes the place. Of several senders that find it one does so. Returns how many were stopped. */
export async function stopWhatWouldComeAgain(place: Place): Promise<number> {
  for (let stopped = 0; ; ) {
    const now = await transaction(async (client) => {
      const found = (await queryOne<WorkedOn & Record<string, unknown>>(`${READ} for update`, [], client))!;
      if (isPlace(found, place)) return 0;
      const some = await stopSome(client);
      if (some === CAMPAIGNS_AT_ONCE) return some;
      await query(LEAVE_COPIES, [RESTORED_ERROR], client);
      await query(TAKE, [place.name, place.timeline], client);
      return some;
    });
    stopped += now;
    if (now < CAMPAIGNS_AT_ONCE) return stopped;
  }
}
