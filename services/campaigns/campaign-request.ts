/**
 * Reconstructs the send request of a campaign from what is stored. Receivers become recipients when the campaign
 * expands: one statement reads both tables, so that each receiver is found in exactly one.
 */
import type { CampaignType } from "../../models/campaign.ts";
import { type Queryable, query, queryOne } from "../../models/database/db.ts";
import type { DraftKind } from "../../models/draft.ts";

// Once it has started, the contents are those of the first or the winning variant; the request's own are then in a
// variant without others.
const READ = `
  select c.name, c.campaign_type, c.smtp_config_id, c.list_id, c.segment_id, c.is_transactional, c.no, c.resend_of,
    (select p.id from templates p where p.company_id = $1 and p.id = c.template_id and not t.overrides_template)
      as template_id, t.subject, t.body, t.preheader, t.text_body, t.inline_css, t.media_ids, t.further,
    t.design, t.design_text,
    (select v.content from campaign_variants v
     where v.company_id = $1 and v.campaign_id = $2 and v.content ? 'body'
       and not t.further->'variants'->v.index::integer ?| array['template_id', 'content']
     order by t.further->'variants'->v.index::integer ? 'subject', v.index limit 1) as base
  from campaigns c join campaign_contents t on t.company_id = c.company_id and t.campaign_id = c.id
  where c.company_id = $1 and c.id = $2 and c.deleted_at is null and not c.is_internal`;

// Receivers up to the cursor have been written as recipients; skipped ones have their number negated. An address equal
// to the subscriber's is stored only there; erased persons have none.
const RECEIVERS = `
  select r.email, r.cc, r.bcc, r.variables from (
    select coalesce(e.email, s.email) as email, e.cc, e.bcc, e.variables, case when e.seq > 0 then 1 else 2 end as part,
      abs(e.seq) as no
    from campaigns c join sent_emails e on e.campaign_no = c.no
    left join subscribers s on s.company_id = c.company_id and s.id = e.subscriber_id
    where c.company_id = $1 and c.id = $2
    union all
    select w.email, w.cc, w.bcc, w.variables, 3, w.no
    from campaigns c join campaign_receivers w on w.company_id = c.company_id and w.campaign_id = c.id
    where c.company_id = $1 and c.id = $2 and w.no > coalesce(c.expand_cursor, '0')::integer) r
  where r.email <> ''
  order by r.part, r.no`;

interface Row {
  name: string;
  campaign_type: CampaignType;
  smtp_config_id: string;
  /** Null if the template was deleted, or its text replaced: the request then has the content that is sent. */
  template_id: string | null;
  list_id: string | null;
  segment_id: string | null;
  is_transactional: boolean;
  resend_of: string | null;
  subject: string;
  body: string;
  preheader: string | null;
  text_body: string | null;
  inline_css: boolean;
  design: Record<string, unknown> | null;
  design_text: string | null;
  media_ids: string[];
  further: Record<string, unknown> | null;
  base: Pick<Row, "subject" | "body" | "preheader" | "text_body"> | null;
}

interface ReceiverRow {
  email: string;
  cc: string[] | null;
  bcc: string[] | null;
  variables: Record<string, unknown> | null;
}

/** A send to receivers with its own content is a custom one. */
const kindOf = ({ campaign_type, template_id }: Row): DraftKind =>
  campaign_type === "to_list" ? "to-list" : template_id ? "to-receivers" : "custom";

const receiver = ({ email, cc, bcc, variables }: ReceiverRow) => ({
  ...variables,
  email,
  ...(cc && { cc }),
  ...(bcc && { bcc }),
});

/** Content given in the request. */
function contentOf({ design, design_text, inline_css, base, ...shown }: Row) {
  const { subject, body, preheader, text_body } = { ...shown, ...base };
  return {
    subject,
    ...(design && body === shown.body ? { design } : { body }),
    ...(preheader !== null && { preheader }),
    ...(text_body !== null && text_body !== design_text && { text_body }),
    ...(inline_css && { inline_css }),
  };
}

interface CampaignRequest {
  kind: DraftKind;
  name: string;
  /** Request body without `scheduled_for`. */
  body: Record<string, unknown>;
}

/** Undefined if there is no such campaign. */
export async function campaignRequest(
  companyId: string,
  campaignId: string,
  client?: Queryable,
): Promise<CampaignRequest | undefined> {
  const key = [companyId, campaignId];
  const row = await queryOne<Row>(READ, key, client);
  if (!row) return undefined;
  const { name, smtp_config_id, template_id, list_id, segment_id, is_transactional, media_ids } = row;
  // Resending to non-openers means those of that campaign; without its own audience the request would go to the whole
  // list.
  const audience = row.resend_of ? {} : { ...(list_id && { list_id }), ...(segment_id && { segment_id }) };
  const kind = kindOf(row);
  const body = {
    name,
    smtp_config_id,
    ...(template_id && { template_id }),
    ...(kind === "to-list" && !template_id && { content: contentOf(row) }),
    ...(kind === "to-list" ? audience : {}),
    ...(kind === "custom" && contentOf(row)),
    ...(kind !== "to-list" && { receivers: (await query<ReceiverRow>(RECEIVERS, key, client)).map(receiver) }),
    ...(media_ids.length > 0 && { attachment_ids: media_ids }),
    ...(is_transactional && { is_transactional }),
    ...row.further,
  };
  return { kind, name, body };
}
