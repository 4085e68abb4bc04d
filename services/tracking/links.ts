/** Where a campaign's tracked links lead. They never change once compiled, so that a process asks once per campaign. */
import { type Queryable, query } from "../../models/db.ts";

const MAX_CAMPAIGNS = 500;

const known = new Map<string, string[]>();

export interface CampaignRef {
  company_id: string;
  campaign_id: string;
}

function remember(campaignId: string, links: string[]): void {
  known.delete(campaignId);
  known.set(campaignId, links);
  if (known.size > MAX_CAMPAIGNS) known.delete(known.keys().next().value!);
}

const SELECT = `
  select c.campaign_id, c.links from campaign_contents c
  join unnest($1::uuid[], $2::uuid[]) as asked (company_id, campaign_id) using (company_id, campaign_id)
  where c.links is not null`;

/** Loads what is not known yet; afterwards `linkUrl` answers for these campaigns. */
export async function loadLinks(campaigns: Iterable<CampaignRef>, on?: Queryable): Promise<void> {
  const missing = [...campaigns].filter(({ campaign_id }) => !known.has(campaign_id));
  if (missing.length === 0) return;
  const ids = [missing.map((c) => c.company_id), missing.map((c) => c.campaign_id)];
  const rows = await query<{ campaign_id: string; links: string[] }>(SELECT, ids, on);
  for (const { campaign_id, links } of rows) remember(campaign_id, links);
}

/** Only http and https: a template or a variable may have held anything. */
export const isWebAddress = (url: string): boolean => /^https?:\/\//i.test(url) && URL.canParse(url);

export function linkUrl(campaignId: string, link: number): string | undefined {
  const url = known.get(campaignId)?.[link - 1];
  return url && isWebAddress(url) ? url : undefined;
}
