/** Marks a person as unsubscribed and records the event, together and once. */
import { type Client, query } from "../../../models/database/db.ts";
import { markUnsubscribed } from "../../../models/statements/unsubscribe.ts";
import { outboxInsert } from "../../../models/statements/webhook-outbox.ts";

export type UnsubscribeMethod = "one_click" | "page" | "preferences";

interface Unsubscribing {
  companyId: string;
  email: string;
  method: UnsubscribeMethod;
  /** On the preferences page the last one that was sent to the person; null where there is none. */
  sentEmailId: string | null;
  campaignId: string | null;
}

const REASONS: Record<UnsubscribeMethod, string> = {
  one_click: "Unsubscribed by one click in the mail program.",
  page: "Unsubscribed on the unsubscribe page.",
  preferences: "Unsubscribed on the preferences page.",
};

const RECORD = `
  with event as (
    insert into email_events (company_id, campaign_id, sent_email_id, type, recipient, metadata)
    values ($1, $2, $3, 'unsubscribed', $4, jsonb_build_object('method', $5::text))
    returning *),
  queued as (${outboxInsert("event")})
  select distinct company_id from queued`;

/** Returns the companies with something for their webhooks. */
export async function unsubscribePerson(client: Client, person: Unsubscribing): Promise<string[]> {
  const { companyId, email, method, sentEmailId, campaignId } = person;
  if (!(await markUnsubscribed(client, { companyId, email, reason: REASONS[method] }))) return [];
  const rows = await query<{ company_id: string }>(RECORD, [companyId, campaignId, sentEmailId, email, method], client);
  return rows.map((row) => row.company_id);
}
