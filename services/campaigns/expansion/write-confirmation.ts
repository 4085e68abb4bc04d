/**
 * Writes a double opt-in email as a campaign of one recipient, ready for senders without expansion. Campaign,
 * recipient, chunk and the month's usage are written together or not at all.
 */

import { type Client, query, queryOne } from "../../../models/database/db.ts";
import { addChunks, cutIntoRuns } from "../../../models/statements/add-chunks.ts";
import { addEmails } from "../../../models/statements/plan-usage.ts";
import { storeWireSender } from "../../../models/statements/snapshot-contents.ts";
import { newId } from "../../lib/ids.ts";

const CAMPAIGN = `
  insert into campaigns (id, company_id, name, campaign_type, status, total_emails, smtp_config_id, is_transactional,
    is_internal, worker_task_id, next_seq, expansion_began_at, expanded_at, no)
  values ($1, $2, 'Confirmation', 'custom', 'pending', 1, $3, true, true, $4, 2, now(), now(),
    next_campaign_no())`;

// Not tracked, so that the only link arrives unchanged.
const CONTENTS = `
  insert into campaign_contents (campaign_id, company_id, subject, body, sender_name, sender_email, reply_to_email,
    list_id_name, list_id_ref, company_name, footer_text, tracking_enabled)
  select $1, c.id, $4, $5, s.sender_name, s.sender_email,
    coalesce(nullif(s.reply_to_email, ''), nullif(c.reply_to_email, ''), s.sender_email),
    c.name, c.id, c.name, c.footer_text, false
  from companies c join smtp_configs s on s.company_id = c.id and s.id = $3 where c.id = $2
  returning sender_email`;

const RECIPIENT = `
  insert into sent_emails (campaign_no, seq, subscriber_id, email, variables)
  select no, 1, $3, $4, $5::jsonb from campaigns where company_id = $2 and id = $1`;

interface Confirmation {
  campaignId: string;
  companyId: string;
  smtpConfigId: string;
  subscriberId: string | null;
  email: string;
  variables: Record<string, string | string[]>;
  subject: string;
  body: string;
}

export async function writeConfirmation(client: Client, mail: Confirmation): Promise<void> {
  const { campaignId: id, companyId, smtpConfigId, subscriberId, email } = mail;
  await query(CAMPAIGN, [id, companyId, smtpConfigId, newId()], client);
  const contents = [id, companyId, smtpConfigId, mail.subject, mail.body];
  const written = await queryOne<{ sender_email: string }>(CONTENTS, contents, client);
  if (written) await storeWireSender(client, companyId, id, written.sender_email);
  await query(RECIPIENT, [id, companyId, subscriberId, email, JSON.stringify(mail.variables)], client);
  const owner = { id, company_id: companyId, smtp_config_id: smtpConfigId, is_transactional: true };
  await addChunks(client, owner, cutIntoRuns(1, 1));
  await addEmails(client, companyId, 1);
  await query("select add_count($1, 'sent_emails', $1, 1)", [companyId], client);
}
