/**
 * Renders the emails of a test send like those of a campaign, from current data. Nothing is tracked, and their ids
 * belong to no stored mail, so that trying the links unsubscribes nobody.
 */
import { TEMPLATE_TEXT } from "../../models/campaign-variant.ts";
import { query, queryOne } from "../../models/database/db.ts";
import { subscriberOf } from "../../models/database/row-at.ts";
import { newId } from "../lib/ids.ts";
import { attachments, dkim, FURTHER_KEYS, type KeyRow, type LoadedContent } from "./campaign-rows.ts";
import { compile } from "./compiled-campaign.ts";
import { Unrenderable } from "./content.ts";
import type { MakeMail, Rendered, TestContent } from "./contract.ts";
import { bodyFacts } from "./heavy.ts";
import { withImagesOn } from "./image-hosts.ts";
import type { Recipient } from "./program/scope.ts";
import { mailsOf } from "./render-mails.ts";
import { templateWarnings } from "./warnings.ts";

const SUBJECT_PREFIX = "[Test] ";

interface Row extends KeyRow {
  subject: string | null;
  body: string | null;
  preheader: string | null;
  text_body: string | null;
  is_transactional: boolean;
  sender_name: string;
  sender_email: string;
  reply_to_email: string;
  company_name: string;
  footer_text: string;
  tracking_domain: string | null;
}

// Sender as in a campaign's snapshot (models/statements/snapshot-contents.ts); a test names the company as its list.
const SELECT = `
  select s.id as smtp_config_id, t.subject, coalesce(t.html, t.body) as body, t.preheader, ${TEMPLATE_TEXT} as text_body,
    coalesce(t.template_type = 'transactional', false) as is_transactional,
    s.sender_name, s.sender_email,
    coalesce(nullif(s.reply_to_email, ''), nullif(c.reply_to_email, ''), s.sender_email) as reply_to_email,
    c.name as company_name, c.footer_text, d.domain as tracking_domain, s.dkim_domain, s.dkim_selector, s.dkim_key_sealed,
    ${FURTHER_KEYS} as further_keys
  from companies c
  join smtp_configs s on s.company_id = c.id and s.id = $2
  left join templates t on t.company_id = c.id and t.id = $3
  left join tracking_domains d on d.company_id = c.id and d.proved_at is not null
  where c.id = $1 and ($3::uuid is null or t.id is not null)`;

async function contentOf(companyId: string, given: TestContent): Promise<LoadedContent> {
  const { smtp_config_id: smtpConfigId, template_id } = given;
  const row = await queryOne<Row>(SELECT, [companyId, smtpConfigId, template_id]);
  if (!row) throw new Unrenderable("The template or the SMTP configuration was just deleted.");
  const content = {
    campaignId: newId(),
    companyId,
    subject: row.subject ?? given.subject ?? "",
    body: withImagesOn(row.tracking_domain, row.body ?? given.body ?? ""),
    preheader: row.preheader ?? given.preheader ?? null,
    textBody: row.text_body ?? given.text_body ?? null,
    senderName: row.sender_name,
    senderEmail: row.sender_email,
    replyToEmail: row.reply_to_email,
    listName: row.company_name,
    listId: companyId,
    companyName: row.company_name,
    footerText: row.footer_text,
    isTransactional: row.is_transactional,
    trackingEnabled: false,
    trackingDomain: row.tracking_domain,
    attachments: await attachments(companyId, given.attachment_ids ?? []),
    dkim: dkim(row),
    campaignTokenId: null,
  };
  return { content, variants: [], smtpConfigId, storedLinks: null, subjectPrefix: SUBJECT_PREFIX };
}

const SUBSCRIBERS = `
  select a.no, s.first_name, s.last_name, s.attributes
  from unnest($2::text[]) with ordinality a (email, no),
    lateral (${subscriberOf("$1", "address_key(a.email)", "r.first_name, r.last_name, r.attributes")}) s`;

type Person = Pick<Recipient, "first_name" | "last_name" | "attributes">;

/** Returns the recipients without the subscriber's id, which would make the preferences link a working one. */
async function recipientsOf(companyId: string, { to, variables = {} }: TestContent): Promise<Recipient[]> {
  const found = await query<Person & { no: number }>(SUBSCRIBERS, [companyId, to]);
  const personOf = new Map(found.map(({ no, ...person }) => [Number(no), person]));
  return to.map((email, i) => ({ id: newId(), email, ...personOf.get(i + 1), variables }));
}

export async function renderTests(
  companyId: string,
  given: TestContent,
): Promise<{ mails: (Rendered | MakeMail)[]; warnings: string[] }> {
  try {
    const loaded = await contentOf(companyId, given);
    const { content } = loaded;
    const facts = await bodyFacts(companyId, content);
    const names = Object.keys(given.variables ?? {});
    const htmlBytes = Buffer.byteLength(content.body);
    const described = { facts, htmlBytes, isTransactional: content.isTransactional, given: names };
    const [campaign, recipients, warnings] = await Promise.all([
      compile(loaded),
      recipientsOf(companyId, given),
      templateWarnings(companyId, described),
    ]);
    return { mails: await mailsOf(campaign, recipients), warnings };
  } catch (error) {
    if (!(error instanceof Unrenderable)) throw error;
    return { mails: given.to.map(() => ({ ok: false, error: error.message })), warnings: [] };
  }
}
