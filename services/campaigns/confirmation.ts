/**
 * The double opt-in mail: a transactional campaign of one recipient, which the list of campaigns does not show. It is
 * written ready for senders in one transaction, without an expansion: its recipient is unconfirmed, whom no other send
 * reaches.
 */
import { type Client, query, queryOne, transaction } from "../../models/database/db.ts";
import { addChunks } from "../../models/statements/add-chunks.ts";
import { addEmails } from "../../models/statements/plan-usage.ts";
import { call } from "../call.ts";
import { type Ctx, companyOf } from "../lib/caller.ts";
import { badRequest, notFound } from "../lib/errors.ts";
import { catalogueFor } from "../lib/i18n/languages.ts";
import { newId } from "../lib/ids.ts";
import { confirmationText, greetingName } from "./confirmation-text.ts";
import { knock } from "./doorbell.ts";
import { keepWireSender } from "./send/wire-sender.ts";

interface Wanted {
  subscriber_id: string;
  confirm_url: string;
}

interface Sender {
  id: string;
  company_id: string;
  email: string;
  first_name: string;
  smtp_config_id: string | null;
}

/** The company's own choice, else the configuration marked as default, else the newest. */
const SENDER = `
  select s.company_id, s.email, s.first_name,
    (select id from smtp_configs x where x.company_id = c.id
     order by x.id = c.default_smtp_config_id desc nulls last, x.is_default desc, x.id desc limit 1) as smtp_config_id
  from subscribers s join companies c on c.id = s.company_id
  where s.company_id = $1 and s.id = $2`;

export async function sendConfirmation(ctx: Ctx, wanted: Wanted): Promise<{ campaign_id: string }> {
  const companyId = companyOf(ctx);
  const found = await queryOne<Omit<Sender, "id">>(SENDER, [companyId, wanted.subscriber_id]);
  if (!found) throw notFound();
  if (!found.smtp_config_id) throw badRequest("There is no SMTP configuration to send a confirmation through.");
  await call(ctx, "accounts.admitEmails", { emails: 1 });

  const campaign = { ...found, id: newId(), smtp_config_id: found.smtp_config_id };
  const text = confirmationText(catalogueFor(ctx.meta.http?.acceptLanguage ?? ""));
  await transaction((client) => write(client, campaign, wanted, text));
  knock(ctx, "campaign.queued", { campaignId: campaign.id, companyId });
  return { campaign_id: campaign.id };
}

async function write(
  client: Client,
  campaign: Sender & { smtp_config_id: string },
  wanted: Wanted,
  { subject, body }: { subject: string; body: string },
): Promise<void> {
  const { id, company_id, smtp_config_id, email, first_name } = campaign;
  await query(
    `insert into campaigns (id, company_id, name, campaign_type, status, total_emails, smtp_config_id, is_transactional,
       is_internal, worker_task_id, next_seq, expanded_at)
     values ($1, $2, 'Confirmation', 'custom', 'pending', 1, $3, true, true, $4, 2, now())`,
    [id, company_id, smtp_config_id, newId()],
    client,
  );
  // Not tracked: the only link must arrive as it is.
  const contents = await queryOne<{ sender_email: string }>(
    `insert into campaign_contents (campaign_id, company_id, subject, body, sender_name, sender_email, reply_to_email,
       list_id_name, list_id_ref, company_name, footer_text, tracking_enabled)
     select $1, c.id, $4, $5, s.sender_name, s.sender_email,
       coalesce(nullif(s.reply_to_email, ''), nullif(c.reply_to_email, ''), s.sender_email),
       c.name, c.id, c.name, c.footer_text, false
     from companies c join smtp_configs s on s.company_id = c.id and s.id = $3 where c.id = $2
     returning sender_email`,
    [id, company_id, smtp_config_id, subject, body],
    client,
  );
  if (contents) await keepWireSender(client, company_id, id, contents.sender_email);
  await query(
    `insert into sent_emails (company_id, campaign_id, seq, subscriber_id, email, variables)
     select $1, $2, 1, $3, $4, jsonb_build_object(
       'confirm_url', $5::text, 'company_name', c.name, 'greeting_name', $6::text)
     from companies c where c.id = $1`,
    [company_id, id, wanted.subscriber_id, email, wanted.confirm_url, greetingName(first_name)],
    client,
  );
  await addChunks(client, { id, company_id, smtp_config_id, is_transactional: true }, 1, 1);
  await addEmails(client, company_id, 1);
  await query("select add_count($1, 'sent_emails', $1, 1)", [company_id], client);
}
