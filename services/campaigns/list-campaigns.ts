import { CAMPAIGN_COLUMNS, type CampaignRow, campaignView } from "../../models/campaign.ts";
import { campaignNo } from "../../models/database/campaign-no.ts";
import { queryOne } from "../../models/database/db.ts";
import { isOneOf, listPage } from "../../models/database/listing.ts";
import { isDay } from "../../models/segment-rules/values.ts";
import { findCampaign, withDesign } from "../../models/statements/read-campaign.ts";
import { boundOf } from "../../models/statements/time-zones.ts";
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import { type Caller, type Ctx, companyOf } from "../lib/caller.ts";
import { notFound } from "../lib/errors.ts";
import { firstIdAt } from "../lib/ids.ts";

const ORDERINGS = {
  name: "c.name",
  status: "c.status",
  updated_at: "c.updated_at",
  // Sorts unscheduled campaigns by creation.
  scheduled_for: "coalesce(c.scheduled_for, c.created_at)",
  total_emails: "c.total_emails",
  sent_count: "c.sent_count",
  failed_count: "c.failed_count",
};

type ListParams = ParamsOf<"campaigns.list">;

/** Ids contain their time, by the clock of any node: the index on ids narrows the period, created_at decides. */
const CLOCK_SKEW_MS = 60_000;

/** A key with only the scope `send` may read what it created; null for all others. */
function onlyOfKey({ apiKeyId, scopes }: Caller): string | null {
  const mayReadAll = !scopes || scopes.some((scope) => scope === "full" || scope === "campaigns" || scope === "read");
  return mayReadAll ? null : (apiKeyId ?? null);
}

export async function listCampaigns(ctx: Ctx<ListParams>) {
  const companyId = companyOf(ctx);
  const { params: asked } = ctx;
  const where = ["c.company_id = $1", "not c.is_internal", "c.deleted_at is null"];
  const values: unknown[] = [companyId];
  for (const field of ["status", "campaign_type"] as const) {
    if (asked[field] !== undefined) where.push(isOneOf(`c.${field}`, asked[field], values));
  }
  if (asked.created_after !== undefined) {
    const after = await boundOf(companyId, asked.created_after, { isAfter: true });
    where.push(`c.created_at ${isDay(asked.created_after) ? ">=" : ">"} $${values.push(after)}`);
    where.push(`c.id >= $${values.push(firstIdAt(after.getTime() - CLOCK_SKEW_MS))}`);
  }
  if (asked.created_before !== undefined) {
    const before = await boundOf(companyId, asked.created_before);
    where.push(`c.created_at < $${values.push(before)}`);
    where.push(`c.id < $${values.push(firstIdAt(before.getTime() + CLOCK_SKEW_MS))}`);
  }
  const ofKey = onlyOfKey(ctx.meta);
  if (ofKey) where.push(`c.api_key_id = $${values.push(ofKey)}`);
  // Counters exist per status, too.
  const byStatus = typeof asked.status === "string" && values.length === 2;
  const { results, ...page } = await listPage<CampaignRow>(
    {
      from: "campaigns c",
      columns: CAMPAIGN_COLUMNS,
      where,
      values,
      id: "c.id",
      orderings: ORDERINGS,
      searchIn: ["c.name"],
      counter: [companyId, byStatus ? `campaigns:${asked.status}` : "campaigns", companyId],
      filtered: values.length > 1 && !byStatus,
      large: true,
    },
    asked,
  );
  return { ...page, results: results.map(campaignView) };
}

export const getCampaign = async (ctx: Ctx<{ id: string }>) => withDesign(companyOf(ctx), await findVisible(ctx));

/** Throws 404. */
async function findVisible(ctx: Ctx<{ id: string }>) {
  const campaign = await findCampaign(companyOf(ctx), ctx.params.id, { onlyOfKey: onlyOfKey(ctx.meta) });
  if (!campaign) throw notFound();
  return campaign;
}

const RETRIES = `
  select count(*)::int as n, min(r.next_attempt_at) as at from (
    select next_attempt_at from sent_emails
    where campaign_no = ${campaignNo("$2", "$1")} and next_attempt_at is not null order by next_attempt_at limit 10000) r`;

/** Returns one snapshot of a campaign's progress. */
export async function progressOf(ctx: Ctx<{ id: string }>): Promise<ReturnsOf<"campaigns.progress">> {
  const { id, status, total_emails, sent_count, failed_count, opens, clicks } = await findVisible(ctx);
  const seen = { status, total_emails, sent_count, failed_count, opens, clicks, per_second: 0, seconds_left: null };
  if (status !== "sending") return { ...seen, retrying: 0, next_retry_at: null };
  const retries = (await queryOne<{ n: number; at: Date | null }>(RETRIES, [companyOf(ctx), id]))!;
  return { ...seen, retrying: retries.n, next_retry_at: retries.at?.toISOString() ?? null };
}
