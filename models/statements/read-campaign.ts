/**
 * Reads a company's campaign as shown in responses. Part of the models because callers that change one read it again in
 * their transaction.
 */
import { CAMPAIGN_COLUMNS, type CampaignRow, campaignView } from "../campaign.ts";
import { type Queryable, queryOne } from "../database/db.ts";

const READ = `
  select ${CAMPAIGN_COLUMNS} from campaigns c
  where c.company_id = $1 and c.id = $2 and c.deleted_at is null and ($3::uuid is null or c.api_key_id = $3)`;

type CampaignView = ReturnType<typeof campaignView>;

/** `onlyOfKey`: the key that must have created it. */
export async function findCampaign(
  companyId: string,
  campaignId: string,
  { on, onlyOfKey = null }: { on?: Queryable; onlyOfKey?: string | null } = {},
): Promise<CampaignView | undefined> {
  const row = await queryOne<CampaignRow>(READ, [companyId, campaignId, onlyOfKey], on);
  return row && campaignView(row);
}

const DESIGN = "select design from campaign_contents where company_id = $1 and campaign_id = $2";

/** Adds the design of its own content; null for a template or HTML. */
export async function withDesign<T extends { id: string }>(companyId: string, campaign: T, on?: Queryable) {
  const row = await queryOne<{ design: Record<string, unknown> | null }>(DESIGN, [companyId, campaign.id], on);
  return { ...campaign, design: row?.design ?? null };
}

const HOLD = `
  select * from campaigns where company_id = $1 and id = $2 and deleted_at is null for no key update`;

/** Locks its row until the end of the transaction, so that state changes wait. */
export const holdCampaign = <T>(client: Queryable, companyId: string, campaignId: string): Promise<T | undefined> =>
  queryOne(HOLD, [companyId, campaignId], client) as Promise<T | undefined>;
