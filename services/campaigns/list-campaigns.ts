import { CAMPAIGN_COLUMNS, Campaign, type CampaignRow, campaignView } from "../../models/campaign.ts";
import { queryOne } from "../../models/database/db.ts";
import { listModels } from "../../models/database/listing.ts";
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

export async function listCampaigns(companyId: string, asked: Asked) {
  const where = ["c.company_id = $1", "not c.is_internal"];
  const values: unknown[] = [companyId];
  for (const field of ["status", "campaign_type"] as const) {
    if (asked[field] !== undefined) where.push(`c.${field} = $${values.push(asked[field])}`);
  }
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

export async function getCampaign(companyId: string, id: string) {
  const campaign = await queryOne<CampaignRow>(
    `select ${CAMPAIGN_COLUMNS} from campaigns c where c.company_id = $1 and c.id = $2`,
    [companyId, id],
  );
  if (!campaign) throw notFound();
  return campaignView(campaign);
}
