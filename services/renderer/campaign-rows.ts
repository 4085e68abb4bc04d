/** Reads the rows from which a campaign's emails are rendered. */
import { prepared, query, queryOne } from "../../models/database/db.ts";
import { campaignTokenId } from "../../models/statements/campaign-tokens.ts";
import { unseal } from "../lib/secrets.ts";
import { type Attachment, type Content, type Dkim, Unrenderable } from "./content.ts";
import { withImagesOn } from "./image-hosts.ts";

/** The DKIM keys of an SMTP configuration as a statement reads them: FURTHER_KEYS and the configuration's own columns. */
export interface KeyRow {
  smtp_config_id: string;
  dkim_domain: string | null;
  dkim_selector: string | null;
  dkim_key_sealed: Buffer | null;
  further_keys: { id: string; domain: string; selector: string; sealed: string }[] | null;
}

interface Row extends KeyRow {
  campaign_id: string;
  company_id: string;
  subject: string;
  body: string;
  preheader: string | null;
  text_body: string | null;
  page_language: string | null;
  sender_name: string;
  sender_email: string;
  reply_to_email: string | null;
  list_id_name: string;
  list_id_ref: string;
  company_name: string;
  footer_text: string;
  tracking_enabled: boolean;
  individual_tracking: boolean;
  /** Null before the campaign's expansion. */
  no: number | null;
  tracking_domain: string | null;
  is_transactional: boolean;
  media_ids: string[];
  links: string[] | null;
  /** Variant's own columns of this row, by index. */
  variants: Partial<Row>[] | null;
}

export interface LoadedContent {
  content: Content;
  /** Prefix of every subject. */
  subjectPrefix?: string;
  /** Contents of all variants. */
  variants: Content[];
  smtpConfigId: string;
  /** Links by number, once an email has been rendered. */
  storedLinks: string[] | null;
}

/** Language as for other public pages. */
const DEFAULT_LANGUAGE = "en";
/** Columns for a statement with the SMTP configuration s. */
export const FURTHER_KEYS = `(select json_agg(json_build_object('id', k.id, 'domain', k.domain, 'selector', k.selector,
       'sealed', encode(k.key_sealed, 'base64')))
     from dkim_keys k where k.company_id = s.company_id and k.smtp_config_id = s.id and k.active)`;

/** Senders know only the campaign: the company comes with the row, and every further statement names it. */
const SELECT = `
  select t.campaign_id, t.company_id, c.smtp_config_id, t.subject, t.body, t.preheader, t.text_body, t.sender_name, t.sender_email,
    t.reply_to_email, t.list_id_name, t.list_id_ref, t.company_name, t.footer_text, t.tracking_enabled,
    c.no, c.individual_tracking, c.is_transactional, t.media_ids, s.dkim_domain, s.dkim_selector, s.dkim_key_sealed, t.links,
    d.domain as tracking_domain, k.branding->>'language' as page_language, ${FURTHER_KEYS} as further_keys,
    (select json_agg(v.content order by v.index) from campaign_variants v
     where v.company_id = t.company_id and v.campaign_id = t.campaign_id) as variants
  from campaign_contents t
  join campaigns c on c.company_id = t.company_id and c.id = t.campaign_id
  join companies k on k.id = t.company_id
  left join smtp_configs s on s.company_id = t.company_id and s.id = c.smtp_config_id
  left join tracking_domains d on d.company_id = t.company_id and d.proved_at is not null
  where t.campaign_id = $1`;

const PARTS = `
  select m.id, m.filename, m.content_type, p.data
  from media m join media_parts p on p.media_id = m.id
  where m.company_id = $1 and m.id = any($2)
  order by m.id, p.no`;

export async function attachments(companyId: string, ids: readonly string[]): Promise<Attachment[]> {
  if (ids.length === 0) return [];
  const parts = await query<{ id: string; filename: string; content_type: string; data: Buffer }>(PARTS, [
    companyId,
    ids,
  ]);
  return ids.map((id) => {
    const ownParts = parts.filter((part) => part.id === id);
    if (ownParts.length === 0) throw new Unrenderable("An attachment of this campaign no longer exists.");
    const { filename, content_type } = ownParts[0]!;
    return { filename, contentType: content_type, data: Buffer.concat(ownParts.map(({ data }) => data)) };
  });
}

export function dkim(row: KeyRow): Dkim[] {
  const { dkim_domain: domain, dkim_selector: selector, dkim_key_sealed: sealed, further_keys: further } = row;
  const first =
    domain && selector && sealed ? [{ domain, selector, privateKey: unseal(sealed, row.smtp_config_id) }] : [];
  const others = (further ?? []).map((key) => ({
    domain: key.domain,
    selector: key.selector,
    privateKey: unseal(Buffer.from(key.sealed, "base64"), key.id),
  }));
  return [...first, ...others];
}

const contentOf = (row: Row, further: Pick<Content, "attachments" | "dkim" | "campaignTokenId">): Content => ({
  campaignId: row.campaign_id,
  companyId: row.company_id,
  subject: row.subject,
  body: withImagesOn(row.tracking_domain, row.body),
  preheader: row.preheader,
  textBody: row.text_body,
  pageLanguage: row.page_language ?? DEFAULT_LANGUAGE,
  senderName: row.sender_name,
  senderEmail: row.sender_email,
  replyToEmail: row.reply_to_email,
  listName: row.list_id_name,
  listId: row.list_id_ref,
  companyName: row.company_name,
  footerText: row.footer_text,
  isTransactional: row.is_transactional,
  trackingEnabled: row.tracking_enabled,
  trackingDomain: row.tracking_domain,
  ...further,
});

interface ReadOptions {
  toSend: boolean;
  /** Variant of the campaign; null: the campaign itself. */
  variant: number | null;
}

/** Undefined if the campaign no longer exists. Attachments and the DKIM keys are read only if mail is to be sent. */
export async function loadContent(
  campaignId: string,
  { toSend, variant }: ReadOptions,
): Promise<LoadedContent | undefined> {
  // A receipt is a campaign: planned each time, it took ten times as long as to read the rows.
  const [row] = await prepared<Row>("campaign content", SELECT, [campaignId]);
  if (!row) return undefined;
  const attached = toSend
    ? { attachments: await attachments(row.company_id, row.media_ids), dkim: dkim(row) }
    : { attachments: [], dkim: [] };
  const tokenIdOf = async (index: number | null) =>
    row.individual_tracking || row.no === null ? null : await campaignTokenId(row.no, index);
  const variants = await Promise.all(
    (row.variants ?? []).map(async (variant, index) =>
      contentOf({ ...row, ...variant }, { ...attached, campaignTokenId: await tokenIdOf(index) }),
    ),
  );
  const content =
    variant === null ? contentOf(row, { ...attached, campaignTokenId: await tokenIdOf(null) }) : variants[variant];
  return content && { content, variants, smtpConfigId: row.smtp_config_id, storedLinks: row.links };
}

const STORE_LINKS = `
  update campaign_contents set links = coalesce(links, $3)
  where company_id = $1 and campaign_id = $2
  returning links`;

/** Stores the campaign's links, or returns those stored before: numbers in mail already sent must never change. */
export async function storeLinks(companyId: string, campaignId: string, links: readonly string[]): Promise<string[]> {
  return (await queryOne<{ links: string[] }>(STORE_LINKS, [companyId, campaignId, links]))?.links ?? [];
}
