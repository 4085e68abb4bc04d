/** Where a campaign's tracked links lead. They never change once compiled, so that a process asks once per campaign. */
import { type Queryable, query } from "../../models/database/db.ts";

/** Of all campaigns together: bounds the memory, also where campaigns have thousands of links. */
const MAX_LINKS = 50_000;

const known = new Map<string, string[]>();
let held = 0;

export interface CampaignRef {
  company_id: string;
  campaign_id: string;
}

function forget(campaignId: string): void {
  held -= known.get(campaignId)?.length ?? 0;
  known.delete(campaignId);
}

function remember(campaignId: string, links: string[]): void {
  forget(campaignId);
  known.set(campaignId, links);
  held += links.length;
}

/** Before a batch is looked up, never within one: what it needs must stay until it is answered. */
function makeRoom(): void {
  for (const campaignId of known.keys()) {
    if (held <= MAX_LINKS) return;
    forget(campaignId);
  }
}

const SELECT = `
  select c.campaign_id, c.links from campaign_contents c
  join unnest($1::uuid[], $2::uuid[]) as asked (company_id, campaign_id) using (company_id, campaign_id)
  where c.links is not null`;

/** Loads what is not known yet; afterwards `linkUrl` answers for these campaigns. */
export async function loadLinks(campaigns: Iterable<CampaignRef>, on?: Queryable): Promise<void> {
  makeRoom();
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
