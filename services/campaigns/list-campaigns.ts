import { CAMPAIGN_COLUMNS, Campaign, type CampaignRow, campaignView } from "../../models/campaign.ts";
import { queryOne } from "../../models/database/db.ts";
import { listModels } from "../../models/database/listing.ts";
import { type Caller, type Ctx, companyOf } from "../lib/caller.ts";
import { notFound } from "../lib/errors.ts";
import type { ListQuery } from "../lib/shapes.ts";

const ORDERINGS = {
  name: "c.name",
  status: "c.status",
  updated_at: "c.updated_at",
  // Unscheduled campaigns are sorted by their creation.
  scheduled_for: "coalesce(c.scheduled_for, c.created_at)",
  total_emails: "c.total_emails",
  sent_count: "c.sent_count",
  failed_count: "c.failed_count",
};

type Asked = ListQuery & { status?: string; campaign_type?: string };

/** A key whose only way in is the scope `send` reads what it made itself; null for everybody else. */
function onlyOfKey({ apiKeyId, scopes }: Caller): string | null {
  const mayReadAll = !scopes || scopes.some((scope) => scope === "full" || scope === "campaigns" || scope === "read");
  return mayReadAll ? null : (apiKeyId ?? null);
}

export async function listCampaigns(ctx: Ctx<Asked>) {
  const companyId = companyOf(ctx);
  const { params: asked } = ctx;
  const where = ["c.company_id = $1", "not c.is_internal"];
  const values: unknown[] = [companyId];
  for (const field of ["status", "campaign_type"] as const) {
    if (asked[field] !== undefined) where.push(`c.${field} = $${values.push(asked[field])}`);
  }
  const ofKey = onlyOfKey(ctx.meta);
  if (ofKey) where.push(`c.api_key_id = $${values.push(ofKey)}`);
  const counter: [string, string, string] = [companyId, "campaigns", companyId];
  const { count, results } = await listModels(
    Campaign,
    {
      from: "campaigns c",
      columns: CAMPAIGN_COLUMNS,
      where,
      values,
      id: "c.id",
      orderings: ORDERINGS,
      searchIn: ["c.name"],
      counter,
      filtered: values.length > 1,
    },
    asked,
  );
  return { count, results: results.map((campaign) => campaign.view()) };
}

export async function getCampaign(ctx: Ctx<{ id: string }>) {
  const campaign = await queryOne<CampaignRow>(
    `select ${CAMPAIGN_COLUMNS} from campaigns c
     where c.company_id = $1 and c.id = $2 and ($3::uuid is null or c.api_key_id = $3)`,
    [companyOf(ctx), ctx.params.id, onlyOfKey(ctx.meta)],
  );
  if (!campaign) throw notFound();
  return campaignView(campaign);
}
