/**
 * What every mail of a campaign is made from, copied at the request: a later edit or delete of the template, the
 * configuration or the company's settings changes nothing in a campaign that exists.
 */
import { type Client, queryOne } from "../../../models/database/db.ts";
import { keepWireSender } from "./wire-sender.ts";

export interface Contents {
  smtp_config_id: string;
  template_id?: string;
  list_id?: string;
  subject?: string;
  body?: string;
  attachment_ids?: string[];
}

/** The subject, or undefined where something of it is gone by now. `for share`: media must not go in this moment. */
export async function snapshot(
  client: Client,
  companyId: string,
  campaignId: string,
  contents: Contents,
): Promise<string | undefined> {
  const media = [...new Set((contents.attachment_ids ?? []).map((id) => id.toLowerCase()))];
  const kept = await queryOne<{ subject: string; sender_email: string }>(
    `with attached as (
       select id from media where company_id = $1 and id = any($8) and deleted_at is null for share
     )
     insert into campaign_contents (campaign_id, company_id, subject, body, sender_name, sender_email, reply_to_email,
       list_id_name, list_id_ref, company_name, footer_text, tracking_enabled, media_ids)
     select $2, c.id, coalesce(t.subject, $6), coalesce(t.body, $7), s.sender_name, s.sender_email,
       coalesce(nullif(s.reply_to_email, ''), nullif(c.reply_to_email, ''), s.sender_email),
       coalesce(l.name, c.name), coalesce(l.id, c.id), c.name, c.footer_text, c.tracking_enabled, $8
     from companies c
     join smtp_configs s on s.company_id = c.id and s.id = $3
     left join templates t on t.company_id = c.id and t.id = $4
     left join lists l on l.company_id = c.id and l.id = $5
     where c.id = $1
       and ($4::uuid is null or t.id is not null)
       and ($5::uuid is null or l.id is not null)
       and (select count(*) from attached) = cardinality($8)
     returning subject, sender_email`,
    [
      companyId,
      campaignId,
      contents.smtp_config_id,
      contents.template_id,
      contents.list_id,
      contents.subject,
      contents.body,
      media,
    ],
    client,
  );
  if (kept) await keepWireSender(client, companyId, campaignId, kept.sender_email);
  return kept?.subject;
}
