/** Statements of the system mail queue. A claim is one statement, so only one node gets a row. */
import { query } from "../../../models/database/db.ts";

export interface DueSystemMail {
  id: string;
  kind: string;
  recipient: string;
  data: Record<string, string>;
  attempts: number;
  created_at: Date;
}

/** Lease duration, longer than an SMTP session. */
export const SYSTEM_MAIL_LEASE_SECONDS = 120;

const CLAIM = `
  update system_mails set attempts = attempts + 1, next_attempt_at = now() + make_interval(secs => $2)
  where id in (
    select id from system_mails where next_attempt_at <= now()
    order by next_attempt_at limit $1 for update skip locked)
  returning id, kind, recipient, data, attempts, created_at`;

export const claimSystemMails = (limit: number): Promise<DueSystemMail[]> =>
  query<DueSystemMail>(CLAIM, [limit, SYSTEM_MAIL_LEASE_SECONDS]);

/** Marks a mail as sent, or as failed with an error. */
export async function finishSystemMail(id: string, error: string | null): Promise<void> {
  await query(
    `update system_mails set next_attempt_at = null, error = $2, sent_at = case when $2::text is null then now() end
     where id = $1 and next_attempt_at is not null`,
    [id, error],
  );
}

export async function deferSystemMail(id: string, error: string, seconds: number): Promise<void> {
  await query(
    `update system_mails set next_attempt_at = now() + make_interval(secs => $3), error = $2
     where id = $1 and next_attempt_at is not null`,
    [id, error, seconds],
  );
}

/** Deletes finished emails after a month. */
export async function purgeSystemMails(): Promise<void> {
  await query("delete from system_mails where next_attempt_at is null and created_at < now() - interval '30 days'");
}
