/** Caches the targets of a campaign's tracked links, which never change once compiled. */
import { LRUCache } from "lru-cache";
import { type Queryable, query } from "../../../models/database/db.ts";
import { type Utm, withUtm } from "./utm.ts";

/** Limit over all campaigns, because some have thousands of links. */
const MAX_CACHED_LINKS = 50_000;

export interface CampaignRef {
  company_id: string;
  campaign_id: string;
}

interface Links {
  /** Link n is at index n - 1. */
  links: readonly string[];
  utm: Utm | null;
}
/** Keyed by campaign id. */
type LinksByCampaign = ReadonlyMap<string, Links>;

const SELECT = `
  select c.campaign_id, c.links, c.utm from campaign_contents c
  join unnest($1::uuid[], $2::uuid[]) as asked (company_id, campaign_id) using (company_id, campaign_id)
  where c.links is not null`;

export class CampaignLinks {
  readonly #cache = new LRUCache<string, Links>({
    maxSize: MAX_CACHED_LINKS,
    // The size must be positive, even without links.
    sizeCalculation: ({ links }) => links.length + 1,
  });

  async of(campaigns: Iterable<CampaignRef>, client?: Queryable): Promise<LinksByCampaign> {
    const found = new Map<string, Links>();
    const missing = new Map<string, string>();
    for (const { company_id, campaign_id } of campaigns) {
      const links = this.#cache.get(campaign_id);
      if (links) found.set(campaign_id, links);
      else missing.set(campaign_id, company_id);
    }
    if (missing.size === 0) return found;
    const values = [[...missing.values()], [...missing.keys()]];
    for (const { campaign_id, ...links } of await query<Links & CampaignRef>(SELECT, values, client)) {
      this.#cache.set(campaign_id, links);
      found.set(campaign_id, links);
    }
    return found;
  }
}

/** Returns the target of a link of the campaign. */
export const destination = (links: LinksByCampaign, campaignId: string, url: string): string =>
  withUtm(url, links.get(campaignId)?.utm ?? null);

/** Templates and variables may contain any scheme. */
export const isWebAddress = (url: string): boolean => /^https?:\/\//i.test(url) && URL.canParse(url);

export function linkUrl(links: LinksByCampaign, campaignId: string, link: number): string | undefined {
  const url = links.get(campaignId)?.links[link - 1];
  return url && isWebAddress(url) ? url : undefined;
}
