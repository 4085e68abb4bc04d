/**
 * Statistics by recipient domain: delivered, bounced and complained messages, and the texts of refusals. Computed on request
 * (domain-counts.ts) from a sample, because counters per day and domain would cost a write for each message.
 */
import { costlyRead } from "../../../models/database/bulk.ts";
import { type Client, query } from "../../../models/database/db.ts";
import { isSampleDomain } from "../../../models/statements/sample-people.ts";
import type { ParamsOf, ReturnsOf } from "../../contracts.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { firstIdAt } from "../../lib/ids.ts";
import { DOMAINS_OF_CAMPAIGN, DOMAINS_OF_DAYS, MAX_DOMAINS } from "./domain-counts.ts";

type DomainStats = ReturnsOf<"tracking.domainStats">;

export const DEFAULT_DAYS = 30;
const DAY_MS = 86_400_000;
/** Ids contain their time, by the clock of any node. */
const CLOCK_SKEW_MS = 60_000;
/** Longest duration of a small campaign, unless it was paused longer. */
const UNDER_WAY_MS = 30 * DAY_MS;
/** Time limit of a query. Each company runs one at a time, on separate connections (bulk.ts); further ones get 503. */
const STATEMENT_MS = 15_000;

interface Bounds {
  /** Up to this number all are counted. */
  all: number;
  /** Minimum sample size beyond it. */
  sample: number;
}

/**
 * Relative errors with 95 percent confidence: below 30 percent for a share of 1 percent, below 6 percent for a share of
 * 20 percent; for the rarer bounces and complaints below 20 percent for a share of 10 percent.
 */
const BOUNDS = { mails: { all: 10_000, sample: 5_000 }, returned: { all: 2_000, sample: 1_000 } };

const boundsOf = (counted?: number): Record<keyof typeof BOUNDS, Bounds> => {
  if (counted === undefined) return BOUNDS;
  const bounds = { all: counted, sample: counted / 2 };
  return { mails: bounds, returned: bounds };
};

interface Sizes {
  mails: number;
  bounces: number;
  complaints: number;
}

const SIZES_OF_DAYS = `
  select coalesce(sum(sent), 0)::bigint as mails, coalesce(sum(bounced), 0)::bigint as bounces,
    coalesce(sum(complained), 0)::bigint as complaints
  from company_days where company_id = $1 and day >= company_day($1, $2)`;

const eventsOf = (metric: string) => `(
  select coalesce(sum(n), 0)::bigint from campaign_counts
  where company_id = $1 and campaign_id = $2 and metric = '${metric}' and bucket = 0)`;
const SIZES_OF_CAMPAIGN = `
  select next_seq - 1 as mails, ${eventsOf("bounced")} as bounces, ${eventsOf("complained")} as complaints
  from campaigns where company_id = $1 and id = $2`;

/** Sampling interval. */
const everyOf = (size: number, { all, sample }: Bounds) => (size <= all ? 1 : Math.max(2, Math.round(size / sample)));

interface Row extends Omit<DomainStats[number], "last_refusal"> {
  /** Seconds since 1970, campaign number, and message number. */
  refused: number[] | null;
  bounce: string | null;
}

const BOUNCE_TEXTS = `
  select id, created_at, metadata->>'diagnostic' as text from email_events
  where company_id = $1 and id = any ($2::uuid[])`;

const ROW_TEXTS = `
  select s.campaign_no, s.seq, s.smtp_response as text
  from unnest($2::int[], $3::int[]) k (campaign_no, seq)
  join campaigns c on c.company_id = $1 and c.no = k.campaign_no
  join sent_emails s on s.campaign_no = k.campaign_no and s.seq = k.seq`;

interface BounceText {
  id: string;
  created_at: Date;
  text: string;
}
interface RowText {
  campaign_no: number;
  seq: number;
  text: string;
}

/** Latest refusal per domain, from bounces and messages' rows. */
async function lastRefusals(client: Client, companyId: string, rows: readonly Row[]): Promise<Map<string, string>> {
  const bounceIds = rows.flatMap(({ bounce }) => bounce ?? []);
  const keys = rows.flatMap(({ refused }) => (refused ? [refused] : []));
  const bounces = await query<BounceText>(BOUNCE_TEXTS, [companyId, bounceIds], client);
  const numbers = [keys.map(([, campaignNo]) => campaignNo), keys.map(([, , seq]) => seq)];
  const refusals = await query<RowText>(ROW_TEXTS, [companyId, ...numbers], client);
  const found = new Map<string, string>();
  for (const { domain, bounce, refused } of rows) {
    const returned = bounces.find(({ id }) => id === bounce);
    const refusal = refused && refusals.find(({ campaign_no: no, seq }) => no === refused[1] && seq === refused[2]);
    const isLater = refusal && (!returned || refused[0]! * 1_000 > returned.created_at.getTime());
    const text = isLater ? refusal.text : returned?.text;
    if (text) found.set(domain, text);
  }
  return found;
}

interface StatsOptions {
  companyId: string;
  since: Date;
  campaign: string | undefined;
  bounds: ReturnType<typeof boundsOf>;
}

async function count(client: Client, { companyId, since, campaign, bounds }: StatsOptions): Promise<DomainStats> {
  const [found] = await (campaign === undefined
    ? query<Sizes>(SIZES_OF_DAYS, [companyId, since], client)
    : query<Sizes>(SIZES_OF_CAMPAIGN, [companyId, campaign], client));
  if (!found) return [];
  const every = [
    everyOf(found.mails, bounds.mails),
    everyOf(found.bounces, bounds.returned),
    everyOf(found.complaints, bounds.returned),
  ];
  const values = [companyId, since, firstIdAt(since.getTime() - CLOCK_SKEW_MS), ...every];
  const rows =
    campaign === undefined
      ? await query<Row>(DOMAINS_OF_DAYS, [...values, new Date(since.getTime() - UNDER_WAY_MS)], client)
      : await query<Row>(DOMAINS_OF_CAMPAIGN, [...values, campaign], client);
  const isShown = ({ domain }: Row) => domain !== "" && (campaign !== undefined || !isSampleDomain(domain));
  const shown = rows.filter(isShown).slice(0, MAX_DOMAINS);
  const last = await lastRefusals(client, companyId, shown);
  const isEstimate = every.some((step) => step > 1);
  return shown.map(({ refused: _, bounce: __, ...row }) => ({
    ...row,
    last_refusal: last.get(row.domain) ?? null,
    ...(isEstimate && { estimated: true }),
  }));
}

export function domainStats(
  ctx: Ctx<ParamsOf<"tracking.domainStats">>,
  { statementMs = STATEMENT_MS, counted }: { statementMs?: number; counted?: number } = {},
): Promise<DomainStats> {
  const companyId = companyOf(ctx);
  const { campaign, days = DEFAULT_DAYS } = ctx.params;
  // All messages of a campaign count, whenever they were sent.
  const since = new Date(campaign === undefined ? Date.now() - days * DAY_MS : CLOCK_SKEW_MS);
  const readStats = async (client: Client) => {
    // Memoize never helps here, because no campaign is read twice.
    await query("select set_config('enable_memoize', 'off', true)", [], client);
    return count(client, { companyId, since, campaign, bounds: boundsOf(counted) });
  };
  return costlyRead(companyId, readStats, { statementMs });
}
