/**
 * A campaign's statistics, from counters kept with the events, so that the cost does not depend on the number of
 * events.
 */
import { query, queryOne } from "../../../models/database/db.ts";
import type { ReturnsOf } from "../../contracts.ts";
import { notFound } from "../../lib/errors.ts";

type Analytics = ReturnsOf<"tracking.analytics">;

interface Campaign {
  id: string;
  total_emails: number;
  sent_count: number;
  failed_count: number;
  individual_tracking: boolean;
  links: string[] | null;
  variants: { index: number; percent: number }[] | null;
  winner: number | null;
}

interface Count {
  metric: string;
  bucket: number;
  n: number;
}

const CAMPAIGN = `
  select c.id, c.total_emails, c.sent_count, c.failed_count, c.individual_tracking, t.links,
    (select json_agg(json_build_object('index', v.index, 'percent', v.percent) order by v.index)
     from campaign_variants v where v.company_id = c.company_id and v.campaign_id = c.id) as variants,
    (select w.winner from campaign_winners w where w.company_id = c.company_id and w.campaign_id = c.id) as winner
  from campaigns c left join campaign_contents t on t.company_id = c.company_id and t.campaign_id = c.id
  where c.company_id = $1 and c.id = $2 and c.deleted_at is null`;

const COUNTS = `
  select metric, bucket, sum(n)::bigint n from campaign_counts
  where company_id = $1 and campaign_id = $2
  group by metric, bucket having sum(n) > 0`;

const HOUR_MS = 3_600_000;

/** Four decimals are a hundredth of a percent. */
const ratio = (part: number, whole: number) => (whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000);

const ratioOfPeople = (part: number | null, whole: number | null) =>
  part === null || whole === null ? null : ratio(part, whole);

function timeline(counts: readonly Count[]): Analytics["timeline"] {
  const byBucket = (metric: string) =>
    new Map(counts.filter((c) => c.metric === metric).map(({ bucket, n }) => [bucket, n]));
  const opens = byBucket("opened_by_hour");
  const clicks = byBucket("clicked_by_hour");
  return [...new Set([...opens.keys(), ...clicks.keys()])]
    .toSorted((a, b) => a - b)
    .map((hour) => ({
      at: new Date(hour * HOUR_MS).toISOString(),
      opens: opens.get(hour) ?? 0,
      clicks: clicks.get(hour) ?? 0,
    }));
}

type Counted = (metric: string, bucket?: number) => number;

/** Counts the test's recipients. The remainder of the campaign's numbers belongs to the winner's recipients. */
function variantsOf(campaign: Campaign, n: Counted): Analytics["variants"] {
  const { variants, winner, sent_count } = campaign;
  // Unique people, or hits without individual tracking.
  const unique = campaign.individual_tracking ? "_unique" : "";
  const tested = (variants ?? []).map(({ index, percent }) => ({
    index,
    percent,
    sent: n("sent_of_variant", index),
    opens: n(`opened${unique}_of_variant`, index),
    clicks: n(`clicked${unique}_of_variant`, index),
  }));
  const restOf = (all: number, metric: "sent" | "opens" | "clicks") =>
    all - tested.reduce((sum, one) => sum + one[metric], 0);
  const rest = {
    sent: restOf(sent_count, "sent"),
    opens: restOf(n(`opened${unique}`), "opens"),
    clicks: restOf(n(`clicked${unique}`), "clicks"),
  };
  return tested.map((one) =>
    one.index === winner
      ? { ...one, sent: one.sent + rest.sent, opens: one.opens + rest.opens, clicks: one.clicks + rest.clicks }
      : one,
  );
}

function analyticsOf(campaign: Campaign, counts: readonly Count[]): Analytics {
  const n = (metric: string, bucket = 0) => counts.find((c) => c.metric === metric && c.bucket === bucket)?.n ?? 0;
  const overHours = (metric: string) => counts.reduce((sum, c) => (c.metric === metric ? sum + c.n : sum), 0);
  const unique = (metric: string, bucket?: number) => (campaign.individual_tracking ? n(metric, bucket) : null);
  const counted = (type: string) => ({
    total: n(type),
    unique: unique(`${type}_unique`),
    machine: n(`${type}_machine`),
  });
  const opens = counted("opened");
  const clicks = counted("clicked");
  const delivered = campaign.sent_count - n("bounced_unique");
  const bounced = n("bounced");
  const unsubscribed = n("unsubscribed");
  return {
    campaign_id: campaign.id,
    total_emails: campaign.total_emails,
    sent: campaign.sent_count,
    failed: campaign.failed_count,
    delivered,
    bounced,
    bounces: { hard: n("bounced_hard"), soft: n("bounced_soft"), block: n("bounced_block") },
    complaints: n("complained"),
    unsubscribed,
    opens,
    clicks,
    not_recorded: { opens: overHours("opened_unrecorded"), clicks: overHours("clicked_unrecorded") },
    rates: {
      open: ratioOfPeople(opens.unique, delivered),
      click: ratioOfPeople(clicks.unique, delivered),
      click_to_open: ratioOfPeople(clicks.unique, opens.unique),
      bounce: ratio(bounced, delivered + bounced),
      unsubscribe: ratio(unsubscribed, delivered),
    },
    links: (campaign.links ?? []).map((url, at) => ({
      url,
      total: n("link", at + 1),
      unique: unique("link_unique", at + 1),
    })),
    timeline: timeline(counts),
    variants: variantsOf(campaign, n),
  };
}

export async function analytics(companyId: string, id: string): Promise<Analytics> {
  const campaign = await queryOne<Campaign>(CAMPAIGN, [companyId, id]);
  if (!campaign) throw notFound();
  return analyticsOf(campaign, await query<Count>(COUNTS, [companyId, id]));
}
