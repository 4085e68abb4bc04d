/**
 * Counts opens and clicks of campaigns without individual tracking: per campaign, link, variant and hour only. It
 * writes no event, no webhook and nothing to a message's row, and settles no doubt, because the time of a change would
 * identify the recipient. Machines are detected by user agent only; the other signs need the message's history.
 */
import { type Client, query } from "../../../models/database/db.ts";
import { variantOf } from "../../../models/statements/campaign-tokens.ts";
import type { MailNumber } from "../../lib/tokens/mail-id.ts";
import { isMachineAgent } from "./bot-detection.ts";
import type { Hit } from "./classify-hits.ts";

export interface CountedCampaign {
  company_id: string;
  campaign_id: string;
  is_deleted: boolean;
  /** Index of the variant of the hit's message, if the campaign has variants. */
  variant?: number | null;
}

const CAMPAIGNS = `
  select no, company_id, id as campaign_id, deleted_at is not null as is_deleted from campaigns where no = any ($1::int[])`;

/** Resolves campaign ids of tokens without a recipient. */
export async function countedCampaigns(known: readonly (MailNumber & { id: string })[], client: Client) {
  const rows = await query<CountedCampaign & { no: number }>(
    CAMPAIGNS,
    [known.map(({ campaign_no }) => campaign_no)],
    client,
  );
  const byNo = new Map(rows.map((row) => [row.no, row]));
  return new Map(
    known.flatMap((one): [string, CountedCampaign][] => {
      const campaign = byNo.get(one.campaign_no);
      return campaign ? [[one.id, { ...campaign, variant: variantOf(one) }]] : [];
    }),
  );
}

// Counts like the triggers on events of known recipients, except for unique counts.
const COUNT = `
  insert into campaign_counts as c (company_id, campaign_id, metric, bucket, slot, n)
  select k.company_id, k.campaign_id, m.metric, m.bucket, pg_backend_pid() % 8, sum(k.n)
  from unnest($1::uuid[], $2::uuid[], $3::smallint[], $4::boolean[], $5::integer[], $6::integer[], $7::integer[])
      k (company_id, campaign_id, link, machine, hour, variant, n),
    lateral (select case when k.link is null then 'opened' else 'clicked' end as name) type,
    lateral (
      select * from metrics_of(type.name, k.machine, false, k.link, false, k.hour, null)
      union all
      select type.name || '_of_variant', k.variant where k.variant is not null and not k.machine) m
  group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (company_id, campaign_id, metric, bucket, slot) do update set n = c.n + excluded.n`;

const HOUR_MS = 3_600_000;

interface Group {
  campaign: CountedCampaign;
  link: number | null;
  machine: boolean;
  hour: number;
  n: number;
}

function groupsOf(hits: readonly Hit[], campaignOf: (hit: Hit) => CountedCampaign): Group[] {
  const groups = new Map<string, Group>();
  for (const hit of hits) {
    const campaign = campaignOf(hit);
    const link = hit.link === 0 ? null : hit.link;
    const machine = isMachineAgent(hit.userAgent);
    const hour = Math.floor(hit.at.getTime() / HOUR_MS);
    const key = [campaign.campaign_id, campaign.variant, link, machine, hour].join();
    const group = groups.get(key) ?? { campaign, link, machine, hour, n: 0 };
    group.n++;
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** Hits of a deleted campaign are no longer counted. */
export async function countHits(
  hits: readonly Hit[],
  campaignOf: (hit: Hit) => CountedCampaign,
  client: Client,
): Promise<void> {
  const groups = groupsOf(hits, campaignOf).filter(({ campaign }) => !campaign.is_deleted);
  if (groups.length === 0) return;
  const columns = [
    groups.map(({ campaign }) => campaign.company_id),
    groups.map(({ campaign }) => campaign.campaign_id),
    groups.map(({ link }) => link),
    groups.map(({ machine }) => machine),
    groups.map(({ hour }) => hour),
    groups.map(({ campaign }) => campaign.variant ?? null),
    groups.map(({ n }) => n),
  ];
  await query(COUNT, columns, client);
}
