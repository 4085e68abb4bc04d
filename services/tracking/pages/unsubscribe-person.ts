/**
 * Unsubscribes a person within the caller's transaction: `unsubscribe` in mail-pages.ts (one-click, and the page's button;
 * GET only shows the page, because scanners follow links) and `changePreferences` in preferences.ts.
 *
 * | effect                                                    | statement                                       |
 * |-----------------------------------------------------------|-------------------------------------------------|
 * | a message in doubt becomes sent: its link was followed    | settleMail                                      |
 * | the address is suppressed (a stronger suppression stays) and the subscriber unsubscribed, and so is the subscriber's current address | UNSUBSCRIBE in models/statements/unsubscribe.ts |
 * | the first time: an event, and its webhooks in the outbox  | RECORD                                          |
 *
 * Queued messages are not changed: senders check suppressions within 2 seconds before each message
 * (services/smtp-sender/delivery/suppression.ts). Transactional email is still sent. "Only this list" leaves that list
 * (leave-list.ts), with only the first effect above.
 */
import { type Client, query } from "../../../models/database/db.ts";
import { SENT_EMAIL_STATUS } from "../../../models/sent-email-status.ts";
import { mailOf, withIds } from "../../../models/statements/mail-key.ts";
import { settleDoubt } from "../../../models/statements/settle-doubt.ts";
import { markUnsubscribed } from "../../../models/statements/unsubscribe.ts";
import { outboxInsert } from "../../../models/statements/webhook-outbox.ts";
import type { MailNumber } from "../../lib/tokens/mail-id.ts";

export type UnsubscribeMethod = "one_click" | "page" | "preferences";

interface Unsubscribing {
  companyId: string;
  email: string;
  method: UnsubscribeMethod;
  /** The preferences page uses the last message sent to the person; null if there is none. */
  sentEmailId: string | null;
  campaignId: string | null;
}

const REASONS: Record<UnsubscribeMethod, string> = {
  one_click: "Unsubscribed by one click in the mail app.",
  page: "Unsubscribed on the unsubscribe page.",
  preferences: "Unsubscribed on the preferences page.",
};

// Events of a deleted campaign are stored without it, so that they stay visible and are not deleted with it.
const RECORD = `
  with event as (
    insert into email_events (company_id, campaign_id, sent_email_id, type, recipient, metadata)
    select $1, c.id, case when $2::uuid is null or c.id is not null then $3::uuid end, 'unsubscribed', $4,
      jsonb_build_object('method', $5::text)
    from (values (1)) once left join campaigns c on c.company_id = $1 and c.id = $2 and c.deleted_at is null
    returning *),
  queued as (${outboxInsert("event")})
  select distinct company_id from queued`;

const DOUBTFUL = `
  select s.campaign_no, s.seq from sent_emails s join campaigns c on c.no = s.campaign_no and c.company_id = $3
  where s.campaign_no = $1 and s.seq = $2 and s.status = ${SENT_EMAIL_STATUS.unknown} for no key update of s`;

/** Following a link of a message in doubt proves its delivery. Returns companies with new webhook deliveries. */
export async function settleMail(client: Client, companyId: string, sentEmailId: string): Promise<string[]> {
  const { campaign_no, seq } = await mailOf(sentEmailId);
  const rows = await query<MailNumber>(DOUBTFUL, [campaign_no, seq, companyId], client);
  const mails = await withIds(
    rows.map((row): MailNumber & { id: string; message_id?: string } => ({ ...row, id: sentEmailId })),
  );
  return settleDoubt(
    client,
    mails.map((mail) => ({ ...mail, message_id: mail.message_id!, company_id: companyId, delivered: true })),
  );
}

/** Returns companies with new webhook deliveries. */
export async function unsubscribePerson(client: Client, person: Unsubscribing): Promise<string[]> {
  const { companyId, email, method, sentEmailId, campaignId } = person;
  // The preferences page's link does not belong to one message.
  const isOfMail = sentEmailId !== null && method !== "preferences";
  const settled = isOfMail ? await settleMail(client, companyId, sentEmailId) : [];
  if (!(await markUnsubscribed(client, { companyId, email, reason: REASONS[method] }))) return settled;
  const rows = await query<{ company_id: string }>(RECORD, [companyId, campaignId, sentEmailId, email, method], client);
  return [...settled, ...rows.map((row) => row.company_id)];
}
