/**
 * Writes the contents of a campaign's variants (campaign-variant.ts): stored with the campaign, and completed when it
 * starts. Until then a variant stores only its own fields, so that edits of the campaign apply to its variants, too.
 */
import { templateOfVariant, VARIED_CONTENTS } from "../campaign-variant.ts";
import { type Client, query } from "../database/db.ts";

export interface Variant {
  subject?: string;
  template_id?: string;
  /** Replaces the template; converted as it will be sent. */
  content?: { subject: string; body?: string; preheader?: string | null; text_body?: string | null };
  percent: number;
}

export interface Winner {
  metric: string;
  after_minutes: number;
}

const COLUMNS = Object.keys(VARIED_CONTENTS);
const contentOf = (source: (column: string) => string) =>
  `jsonb_build_object(${COLUMNS.map((column) => `'${column}', ${source(column)}`).join(", ")})`;

const INSERT = `
  insert into campaign_variants (company_id, campaign_id, index, percent, subject, template_id, content)
  select $1, $2, v.no - 1, v.percent, v.subject, v.template_id,
    case when t.id is not null then ${contentOf((column) => VARIED_CONTENTS[column as keyof typeof VARIED_CONTENTS])}
      when v.content is not null then ${contentOf((column) => `v.content->>'${column}'`)} else '{}' end
      || case when v.subject is null then '{}' else jsonb_build_object('subject', v.subject) end
  from rows from (json_to_recordset($3) as (subject text, template_id uuid, content jsonb, percent float8))
    with ordinality as v (subject, template_id, content, percent, no)
  left join templates t on t.company_id = $1 and t.id = v.template_id
  where v.template_id is null or t.id is not null
  returning index`;

const INSERT_WINNER =
  "insert into campaign_winners (company_id, campaign_id, metric, after_minutes) values ($1, $2, $3, $4)";

/** Returns false if a variant's template was deleted in the meantime. */
export async function writeVariants(
  client: Client,
  companyId: string,
  campaignId: string,
  variants: readonly Variant[],
  winner: Winner | null,
): Promise<boolean> {
  const written = await query(INSERT, [companyId, campaignId, JSON.stringify(variants)], client);
  if (winner) await query(INSERT_WINNER, [companyId, campaignId, winner.metric, winner.after_minutes], client);
  return written.length === variants.length;
}

const FIX = `
  update campaign_variants v set content = ${contentOf((column) => `t.${column}`)} || v.content,
    template_id = ${templateOfVariant("v", "c")}
  from campaign_contents t join campaigns c on c.company_id = t.company_id and c.id = t.campaign_id
  where v.company_id = $1 and v.campaign_id = $2 and t.company_id = $1 and t.campaign_id = $2
  returning v.index`;

const SHOW = `
  update campaign_contents t set ${COLUMNS.map((column) => `${column} = n.${column}`).join(", ")},
    design = case when n.body = t.body then t.design end, design_text = case when n.body = t.body then t.design_text end
  from campaign_variants v, jsonb_populate_record(null::campaign_contents, v.content) n
  where t.company_id = $1 and t.campaign_id = $2 and v.company_id = $1 and v.campaign_id = $2 and v.index = $3`;

/** Makes this variant's contents the campaign's, whose design is dropped if the variant has another body: for the remaining recipients, and for display. */
export const showVariant = (client: Client, companyId: string, campaignId: string, index: number) =>
  query(SHOW, [companyId, campaignId, index], client);

/** Completes the variants when a campaign begins; no effect if it has none. */
export async function fixVariants(client: Client, companyId: string, campaignId: string): Promise<void> {
  const fixed = await query(FIX, [companyId, campaignId], client);
  if (fixed.length > 0) await showVariant(client, companyId, campaignId, 0);
}

const COUNT = `
  update campaign_variants v set recipients = v.recipients + g.n
  from unnest($3::smallint[], $4::int[]) g (index, n)
  where v.company_id = $1 and v.campaign_id = $2 and v.index = g.index`;

/** `given`: number of additional recipients, by variant. */
export const countVariantRecipients = (
  client: Client,
  companyId: string,
  campaignId: string,
  given: readonly number[],
) => query(COUNT, [companyId, campaignId, given.map((_, index) => index), given], client);

/**
 * SQL: counts emails of variants in `counted`; then the campaign's row is locked, so that its writers run one after
 * another. `rows`: written rows (campaign_id, company_id, variant), `n`: increment of each.
 */
export const variantsSent = (rows: string, n: string): string => `variants_sent as (
  insert into campaign_counts as k (company_id, campaign_id, metric, bucket, slot, n)
  select w.company_id, w.campaign_id, 'sent_of_variant', w.variant, pg_backend_pid() % 8, sum(${n})
  from ${rows} w join counted on counted.id = w.campaign_id
  where w.variant is not null
  group by 1, 2, 4 having sum(${n}) <> 0 order by 1, 2, 4
  on conflict (company_id, campaign_id, metric, bucket, slot) do update set n = k.n + excluded.n)`;
