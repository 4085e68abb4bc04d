/**
 * Groups a campaign's failed recipients by reason: all of `failed_count`, including those in doubt and those not
 * attempted.
 */
import { isFinished } from "../../models/campaign.ts";
import { costlyRead } from "../../models/database/bulk.ts";
import { campaignNo } from "../../models/database/campaign-no.ts";
import { type Client, query, queryOne } from "../../models/database/db.ts";
import { SENT_EMAIL_STATUS } from "../../models/sent-email-status.ts";
import { withIds } from "../../models/statements/mail-key.ts";
import type { ReturnsOf } from "../contracts.ts";
import { notFound } from "../lib/errors.ts";
import { enhancedCode } from "../lib/replies/codes.ts";
import { causeOf, helpOf, type Remedy } from "./failure-help.ts";
import { type Resumable, whyNotResumable } from "./lifecycle/resume.ts";

type Failures = ReturnsOf<"campaigns.failures">;
type BounceType = Failures[number]["bounce_type"];

/** Some servers put a unique number into every refusal, so each recipient would have its own reason. */
const MAX_REASONS = 200;
const MAX_REASON_LENGTH = 300;

const CAMPAIGN = `
  select id, status, recipients_state, sent_count, failed_count, unwritten, error from campaigns where company_id = $1 and id = $2 and deleted_at is null`;

interface Campaign extends Resumable {
  failed_count: number;
  unwritten: number;
  error: string | null;
}

const { sent, bounced } = SENT_EMAIL_STATUS;

const ADDRESS = "'<?[^\\s<>@]+@[^\\s<>@]*[^\\s<>@.,;:)]>?'";

/** Up to this number all failures are grouped. */
const MAX_GROUPED = 20_000;
/**
 * Sample size beyond that, in RUNS runs spread over the campaign: a share of 10 percent is accurate to one percent of
 * all.
 */
const SAMPLE = 10_000;
const RUNS = 500;

// A message that bounced after it was sent counts as sent; negative numbers are skipped recipients.
const IS_FAILURE = (e: string) =>
  `${e}.seq > 0 and ${e}.error is not null and ${e}.status > ${sent} and ${e}.sent_at is null`;

const ALL = `sent_emails e where e.campaign_no = ${campaignNo("$2", "$1")} and ${IS_FAILURE("e")}`;

/** First or last failed recipient; runs are chosen between them. */
const boundary = (direction: "asc" | "desc") => `(select seq from sent_emails
  where campaign_no = ${campaignNo("$2", "$1")} and seq > 0 and error is not null order by seq ${direction} limit 1)`;

/** Selects RUNS runs, each one of $3 consecutive runs, chosen by a hash. */
const SAMPLED = `(select ${boundary("asc")} as lo, ${boundary("desc")} as hi offset 0) b
  cross join lateral (select greatest(1, ceil((b.hi - b.lo + 1) / (${RUNS}.0 * $3::int)))::int as length offset 0) l
  cross join generate_series(0, ${RUNS - 1}) run
  cross join lateral (
    select b.lo + (run * $3::int + (hashint4extended(run, $3::int) & ${2 ** 31 - 1}) % $3::int) * l.length::bigint as first offset 0) f
  cross join lateral (
    select * from sent_emails m
    where m.campaign_no = ${campaignNo("$2", "$1")} and m.seq between f.first and f.first + l.length - 1 and ${IS_FAILURE("m")} offset 0) e`;

/** Groups equal texts before addresses are replaced in them. */
const groupsOf = (failures: string) => `
  with texts as materialized (
    select coalesce(nullif(e.error, ''), e.smtp_response, 'No reason is known.') as text, count(*) as n, min(e.seq) as seq,
      min(e.seq) filter (where e.email is distinct from '') as readable
    from (select e.* from ${failures}) e group by 1),
  reasons as (
    select left(regexp_replace(t.text, ${ADDRESS}, '<address>', 'g'), ${MAX_REASON_LENGTH}) as reason, sum(t.n) as n,
      coalesce(min(t.readable), min(t.seq)) as seq
    from texts t group by 1),
  ranked as (select *, least(row_number() over (order by n desc, seq), ${MAX_REASONS + 1}) as rank from reasons),
  groups as (
    select rank, case when rank <= ${MAX_REASONS} then min(reason) else 'Other reasons.' end as reason,
      sum(n)::int as count, min(seq) as seq
    from ranked group by rank)
  select g.reason, g.count, e.campaign_no, e.seq, e.status, nullif(coalesce(e.email, s.email), '') as example,
    case when g.rank <= ${MAX_REASONS} then e.smtp_response end as reply
  from groups g
  join sent_emails e on e.campaign_no = ${campaignNo("$2", "$1")} and e.seq = g.seq
  left join subscribers s on s.company_id = $1 and s.id = e.subscriber_id
  order by g.rank`;
const GROUPS = groupsOf(ALL);
const GROUPS_OF_SAMPLE = groupsOf(SAMPLED);

interface Group {
  reason: string;
  count: number;
  campaign_no: number;
  seq: number;
  id: string;
  status: number;
  example: string | null;
  reply: string | null;
  estimated?: true;
}

const sumOf = (groups: readonly Group[]) => groups.reduce((sum, { count }) => sum + count, 0);

/** Scales the groups to a sum of `all`; the largest group absorbs the rounding. */
function scaledTo(groups: readonly Group[], all: number): Group[] {
  const counted = sumOf(groups);
  const grown = groups.map((group) => ({
    ...group,
    count: Math.max(1, Math.round((group.count / counted) * all)),
    estimated: true as const,
  }));
  const remaining = all - sumOf(grown);
  return grown.map((group, at) => (at === 0 ? { ...group, count: group.count + remaining } : group));
}

/** Groups all failures if the runs miss most of them because they are clustered. */
async function groupsWithin(client: Client, companyId: string, campaignId: string, all: number): Promise<Group[]> {
  const values = [companyId, campaignId];
  if (all > MAX_GROUPED) {
    const sample = await query<Group>(GROUPS_OF_SAMPLE, [...values, Math.max(2, Math.floor(all / SAMPLE))], client);
    if (sumOf(sample) > SAMPLE / 4) return scaledTo(sample, all);
  }
  return query<Group>(GROUPS, values, client);
}

const BOUNCES = `
  select sent_email_id, metadata->>'bounce_type' as type from email_events
  where company_id = $1 and sent_email_id = any ($2::uuid[]) and type = 'bounced'`;

async function bouncesOf(companyId: string, groups: Group[]): Promise<Map<string, BounceType>> {
  const ids = (await withIds(groups)).map(({ id }) => id);
  const rows = await query<{ sent_email_id: string; type: BounceType }>(BOUNCES, [companyId, ids]);
  return new Map(rows.map(({ sent_email_id, type }) => [sent_email_id, type]));
}

const CODE = /^([245]\d\d)(?!\d)/;

function codesOf(text: string | null): { smtp_code: number | null; enhanced_code: string | null } {
  const code = CODE.exec(text ?? "")?.[1];
  const words = code ? text!.slice(code.length + 1) : "";
  return { smtp_code: code ? Number(code) : null, enhanced_code: enhancedCode(words, text ?? "") ?? null };
}

function viewOf(group: Group, campaign: Campaign, remedy: Remedy, found: BounceType | undefined): Failures[number] {
  const { reason, count, example, status } = group;
  const codes = codesOf(group.reply);
  // The event may already have been deleted by retention.
  const bounce_type = found ?? (status === bounced ? "hard" : null);
  const why = causeOf(group, { code: codes.smtp_code, bounce: bounce_type, isStopped: reason === campaign.error });
  const help = helpOf(why, remedy);
  return { reason, ...codes, bounce_type, count, example, help, ...(group.estimated ? { estimated: true } : {}) };
}

const overQuota = (count: number, remedy: Remedy): Failures[number] => ({
  reason: "The monthly email quota was used up.",
  smtp_code: null,
  enhanced_code: null,
  bounce_type: null,
  count,
  example: null,
  help: helpOf("quota", remedy),
});

/** Remedy for failed recipients, by the same decision as a resume. */
async function remedyOf(companyId: string, campaign: Campaign): Promise<Remedy> {
  if (!isFinished(campaign.status)) return "later";
  const refusal = await costlyRead(companyId, (client) => whyNotResumable(client, campaign, companyId));
  if (refusal === undefined) return "resume";
  return campaign.recipients_state === "kept" ? "duplicate" : "none";
}

export async function failures(companyId: string, campaignId: string): Promise<Failures> {
  const campaign = await queryOne<Campaign>(CAMPAIGN, [companyId, campaignId]);
  if (!campaign) throw notFound();
  const { failed_count, unwritten } = campaign;
  if (failed_count === 0) return [];
  const written = failed_count - unwritten;
  const groups =
    written > 0 ? await costlyRead(companyId, (client) => groupsWithin(client, companyId, campaignId, written)) : [];
  const bounces = await bouncesOf(companyId, groups);
  const remedy = await remedyOf(companyId, campaign);
  const views = groups.map((group) => viewOf(group, campaign, remedy, bounces.get(group.id)));
  return [...views, ...(unwritten > 0 ? [overQuota(unwritten, remedy)] : [])].toSorted((a, b) => b.count - a.count);
}
