import { CAMPAIGN_COLUMNS, type CampaignRow, campaignView } from "../../models/campaign.ts";
import { queryOne } from "../../models/database/db.ts";
import { listPage } from "../../models/database/listing.ts";
import { notFound } from "../lib/errors.ts";
import type { ListQuery } from "../lib/shapes.ts";

type Asked = ListQuery & { status?: string; campaign_type?: string };

export async function listCampaigns(companyId: string, asked: Asked) {
  const where = ["c.company_id = $1", "not c.is_internal"];
  const values: unknown[] = [companyId];
  for (const field of ["status", "campaign_type"] as const) {
    if (asked[field] === undefined) continue;
    values.push(asked[field]);
    where.push(`c.${field} = $${values.length}`);
  }
  const page = await listPage<CampaignRow>(
    {
      from: "campaigns c",
      columns: CAMPAIGN_COLUMNS,
      where,
      values,
      id: "c.id",
      orderings: {
        name: "c.name",
        status: "c.status",
        updated_at: "c.updated_at",
        // Unscheduled campaigns are sorted by their creation.
        scheduled_for: "coalesce(c.scheduled_for, c.created_at)",
        total_emails: "c.total_emails",
        sent_count: "c.sent_count",
        failed_count: "c.failed_count",
      },
      searchIn: ["c.name"],
      counter: [companyId, "campaigns", companyId],
      filtered: values.length > 1,
    },
    asked,
  );
  return { count: page.count, results: page.results.map(campaignView) };
}

export async function getCampaign(companyId: string, campaignId: string) {
  const row = await queryOne<CampaignRow>(
    `select ${CAMPAIGN_COLUMNS} from campaigns c where c.company_id = $1 and c.id = $2`,
    [companyId, campaignId],
  );
  if (!row) throw notFound();
  return campaignView(row);
}
