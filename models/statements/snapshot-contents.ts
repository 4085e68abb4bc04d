/**
 * Copies the contents of a campaign's emails when it is created, so that later edits or deletions of the template, the
 * SMTP configuration or the company's settings do not affect it. Part of the models because one statement reads five
 * services' tables and locks the attachments while it writes.
 */
import { asciiDomain, domainOf } from "../../services/lib/address.ts";
import { TEMPLATE_TEXT } from "../campaign-variant.ts";
import { type Client, query, queryOne } from "../database/db.ts";

interface Contents {
  smtp_config_id: string;
  template_id?: string;
  list_id?: string;
  subject?: string;
  /** The HTML that is sent. */
  body?: string;
  /** Design that the body was made from, and its text part. */
  design?: Record<string, unknown>;
  design_text?: string | null;
  preheader?: string | null;
  /** The text part that is sent. */
  text_body?: string | null;
  inline_css?: boolean;
  attachment_ids?: string[];
}

// `for share`: an attachment must not be deleted between the check and the insert.
const SNAPSHOT = `
  with attached as (
    select id from media where company_id = $1 and id = any($8) and deleted_at is null for share
  )
  insert into campaign_contents (campaign_id, company_id, subject, body, sender_name, sender_email, reply_to_email,
    list_id_name, list_id_ref, company_name, footer_text, tracking_enabled, media_ids, preheader, text_body, inline_css,
    further, design, design_text)
  select $2, c.id, coalesce(t.subject, $6), coalesce(t.html, t.body, $7), s.sender_name, s.sender_email,
    coalesce(nullif(s.reply_to_email, ''), nullif(c.reply_to_email, ''), s.sender_email),
    coalesce(l.name, c.name), coalesce(l.id, c.id), c.name, c.footer_text, c.tracking_enabled, $8,
    coalesce(t.preheader, $9), coalesce(${TEMPLATE_TEXT}, $10), coalesce(t.inline_css, $11, false), $12,
    $13, $14
  from companies c
  join smtp_configs s on s.company_id = c.id and s.id = $3
  left join templates t on t.company_id = c.id and t.id = $4
  left join lists l on l.company_id = c.id and l.id = $5
  where c.id = $1
    and ($4::uuid is null or t.id is not null)
    and ($5::uuid is null or l.id is not null)
    and (select count(*) from attached) = cardinality($8)
  returning subject, sender_email`;

/** The campaign's subject, or undefined if something it refers to has been deleted in the meantime. */
export async function snapshotContents(
  client: Client,
  companyId: string,
  campaignId: string,
  contents: Contents,
  further: Record<string, unknown> | null = null,
): Promise<string | undefined> {
  const { smtp_config_id, template_id, list_id, subject, body, attachment_ids = [] } = contents;
  const { preheader, text_body, inline_css, design, design_text } = contents;
  const mediaIds = [...new Set(attachment_ids.map((id) => id.toLowerCase()))];
  const kept = further && JSON.stringify(further);
  const values = [
    ...[companyId, campaignId, smtp_config_id, template_id, list_id, subject, body, mediaIds],
    ...[preheader, text_body, inline_css, kept, design, design_text],
  ];
  const written = await queryOne<{ subject: string; sender_email: string }>(SNAPSHOT, values, client);
  if (written) await storeWireSender(client, companyId, campaignId, written.sender_email);
  return written?.subject;
}

interface NewContents {
  template_id?: string | undefined;
  list_id?: string | undefined;
  segment_id?: string | undefined;
  subject?: string | undefined;
  body?: string | undefined;
  preheader?: string | null | undefined;
  /** Blank: made from the HTML, or that of the design. */
  text_body?: string | null | undefined;
  /** Design that the body was made from, and its text part. */
  design?: Record<string, unknown> | undefined;
  design_text?: string | null | undefined;
  attachment_ids?: string[] | undefined;
}

// Null fields stay unchanged; a segment's emails name the company, as at the send. A new body without a text part
// removes the old one, whose text would differ.
const REWRITE = `
  with attached as (
    select id from media where company_id = $1 and id = any($8) and deleted_at is null for share
  )
  update campaign_contents k set
    subject = coalesce($6, t.subject, k.subject), body = coalesce($7, t.html, t.body, k.body),
    preheader = case when $9 then $10 when t.id is null then k.preheader else t.preheader end,
    text_body = case
      when $13 then coalesce($14, case when $7 is not null then $12 when t.id is null then k.design_text else t.design_text end)
      when $7 is not null then $12 when t.id is null then k.text_body else ${TEMPLATE_TEXT} end,
    design = case when $7 is not null then $11::jsonb when t.id is null then k.design end,
    design_text = case when $7 is not null then $12 when t.id is null then k.design_text end,
    inline_css = coalesce(t.inline_css, k.inline_css),
    overrides_template = (k.overrides_template and t.id is null) or $6 is not null or $7 is not null or $9 or $13,
    list_id_name = case when $5::uuid is not null then c.name else coalesce(l.name, k.list_id_name) end,
    list_id_ref = case when $5::uuid is not null then c.id else coalesce(l.id, k.list_id_ref) end,
    media_ids = coalesce($8, k.media_ids)
  from companies c
  left join templates t on t.company_id = c.id and t.id = $3
  left join lists l on l.company_id = c.id and l.id = $4
  where c.id = $1 and k.company_id = $1 and k.campaign_id = $2
    and ($3::uuid is null or t.id is not null)
    and ($4::uuid is null or l.id is not null)
    and ($8::uuid[] is null or (select count(*) from attached) = cardinality($8))
  returning k.subject`;

const INLINES_CSS = `
  select coalesce(
    (select inline_css from templates where company_id = $1 and id = $3),
    (select inline_css from campaign_contents where company_id = $1 and campaign_id = $2), false) as inlines`;

/** True if CSS is inlined in a body that replaces this campaign's, or that template's. */
export async function inlinesCssOf(companyId: string, campaignId: string, templateId?: string): Promise<boolean> {
  return (await queryOne<{ inlines: boolean }>(INLINES_CSS, [companyId, campaignId, templateId]))!.inlines;
}

/** Rewrites the contents of a campaign that has not started. False if a new reference was deleted in the meantime. */
export async function rewriteContents(
  client: Client,
  companyId: string,
  campaignId: string,
  contents: NewContents,
): Promise<boolean> {
  const { template_id, list_id, segment_id, subject, body, attachment_ids } = contents;
  const { preheader, design, design_text, text_body } = contents;
  const mediaIds = attachment_ids && [...new Set(attachment_ids.map((id) => id.toLowerCase()))];
  const values = [
    ...[companyId, campaignId, template_id, list_id, segment_id, subject, body, mediaIds],
    ...[preheader !== undefined, preheader, design, design_text],
    ...[text_body !== undefined, text_body?.trim() ? text_body : null],
  ];
  return (await query(REWRITE, values, client)).length === 1;
}

/**
 * Stores the sender's address with its domain in wire form. SQL builds Message-IDs from this column (for webhooks, with
 * each result), and they must equal those in the emails, whose headers have the domain in lower-case ASCII.
 */
export async function storeWireSender(client: Client, companyId: string, campaignId: string, sender: string) {
  const domain = domainOf(sender);
  const ascii = asciiDomain(domain);
  if (ascii === null || ascii === domain) return;
  await query(
    "update campaign_contents set sender_email = $3 where company_id = $1 and campaign_id = $2",
    [companyId, campaignId, `${sender.slice(0, -domain.length)}${ascii}`],
    client,
  );
}
