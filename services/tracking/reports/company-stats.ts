/** A company's overview, from counters that triggers keep on subscribers, campaigns and events. */
import { CAMPAIGN_STATUSES } from "../../../models/campaign.ts";
import { query } from "../../../models/database/db.ts";
import { todayAt } from "../../../models/statements/time-zones.ts";
import { SUBSCRIBER_STATUSES } from "../../../models/subscriber.ts";
import type { ReturnsOf } from "../../contracts.ts";

type CompanyStats = ReturnsOf<"tracking.companyStats">;

const DEFAULT_DAYS = 30;
const DAY_MS = 86_400_000;

const COUNTED = `
  select name, sum(n)::bigint as n from counters
  where company_id = $1 and ref = $1 and name = any ($2) group by name`;

const DAYS = `
  select to_char(day, 'YYYY-MM-DD') as date, sum(sent)::bigint as sent, greatest(sum(sent - returned), 0)::bigint as delivered,
    sum(bounced)::bigint as bounced, sum(complained)::bigint as complained, sum(opens)::bigint as opens,
    sum(clicks)::bigint as clicks, sum(people_subscribed)::bigint as people_subscribed,
    sum(people_unsubscribed)::bigint as people_unsubscribed, sum(people_bounced)::bigint as people_bounced
  from company_days where company_id = $1 and day >= $2::date group by day`;

type Sending = CompanyStats["sending"][number];
interface Day extends Sending {
  people_subscribed: number;
  people_unsubscribed: number;
  people_bounced: number;
}

const nothing = (date: string): Day => ({
  date,
  sent: 0,
  delivered: 0,
  bounced: 0,
  complained: 0,
  opens: 0,
  clicks: 0,
  people_subscribed: 0,
  people_unsubscribed: 0,
  people_bounced: 0,
});

const datesUntil = (today: string, days: number): string[] =>
  Array.from({ length: days }, (_, n) =>
    new Date(Date.parse(today) - (days - 1 - n) * DAY_MS).toISOString().slice(0, 10),
  );

const growthOf = (day: Day): CompanyStats["growth"][number] => ({
  date: day.date,
  subscribed: day.people_subscribed,
  unsubscribed: day.people_unsubscribed,
  bounced: day.people_bounced,
});

function sendingOf(day: Day): Sending {
  const { people_subscribed: _, people_unsubscribed: __, people_bounced: ___, ...sending } = day;
  return sending;
}

/** Counts by status, zero included. */
function byStatus<S extends string>(kind: string, statuses: readonly S[], counts: ReadonlyMap<string, number>) {
  return Object.fromEntries(statuses.map((status) => [status, counts.get(`${kind}:${status}`) ?? 0])) as Record<
    S,
    number
  >;
}

export async function companyStats(companyId: string, days = DEFAULT_DAYS): Promise<CompanyStats> {
  const dates = datesUntil(await todayAt(companyId), days);
  const names = [
    ...SUBSCRIBER_STATUSES.map((status) => `subscribers:${status}`),
    ...CAMPAIGN_STATUSES.map((status) => `campaigns:${status}`),
  ];
  const [counted, kept] = await Promise.all([
    query<{ name: string; n: number }>(COUNTED, [companyId, names]),
    query<Day>(DAYS, [companyId, dates[0]]),
  ]);
  const counts = new Map(counted.map(({ name, n }) => [name, n]));
  const found = new Map(kept.map((day) => [day.date, day]));
  const all = dates.map((date) => found.get(date) ?? nothing(date));
  const subscribers = byStatus("subscribers", SUBSCRIBER_STATUSES, counts);
  const total = Object.values(subscribers).reduce((sum, n) => sum + n, 0);
  return {
    subscribers: { total, ...subscribers },
    growth: all.map(growthOf),
    sending: all.map(sendingOf),
    campaigns: byStatus("campaigns", CAMPAIGN_STATUSES, counts),
  };
}
