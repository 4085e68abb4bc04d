/**
 * Implements the guard: a campaign with more hard bounces or complaints than its company allows is stopped
 * automatically, as if a person had stopped it. Evaluated where results and returns are written, so that a campaign
 * without returns never reads its company's settings.
 *
 * Counts only returns of emails sent since the last resume: a person who resumes has seen the reason.
 */
import { GUARD, type Guard } from "../company.ts";
import { type Client, prepared, queryOne } from "../database/db.ts";
import { auditWithin, SYSTEM } from "./audit-log.ts";
import { noticeToOwnersWithin } from "./queue-system-mail.ts";

const allowed = (field: keyof Guard) => `coalesce((o.guard->>'${field}')::numeric, ${GUARD[field]})`;

/** SQL: number of tried recipients of campaign c: accepted, refused, or in doubt; not waiting or suppressed ones. */
const tried = (c: string) => `(${c}.sent_count + ${c}.tried_unsent - ${c}.guard_from)`;

const exceeds = (c: string) => `${tried(c)} >= ${allowed("after")}
  and (100.0 * ${c}.hard_bounces > ${allowed("hard_bounce_percent")} * ${tried(c)}
    or 100.0 * ${c}.complaints > ${allowed("complaint_percent")} * ${tried(c)})`;

/** SQL: true if the counts of campaign c exceed its limits. Scalar, so that no plan reads all companies. */
export const isOverGuard = (
  c: string,
): string => `coalesce(${c}.error is null and ${c}.hard_bounces + ${c}.complaints > 0
  and (select ${exceeds(c)} from companies o where o.id = ${c}.company_id), false)`;

export interface Returns {
  companyId: string;
  campaignId: string;
  /** Time of the email; null: unknown, because it was refused. */
  sentAt: Date | null;
  hard: boolean;
}

const COUNT = `
  with returned as (
    select r.campaign_id, count(*) filter (where r.hard)::int as hard, count(*) filter (where not r.hard)::int as complaints
    from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::bool[]) r (company_id, campaign_id, sent_at, hard)
    join campaigns c on c.id = r.campaign_id and c.company_id = r.company_id
    where c.status in ('pending', 'sending') and (c.guard_since is null or r.sent_at >= c.guard_since)
    group by r.campaign_id),
  locked as (
    select c.id, r.hard, r.complaints from returned r join campaigns c on c.id = r.campaign_id
    order by c.id for no key update of c)
  update campaigns c set hard_bounces = c.hard_bounces + l.hard, complaints = c.complaints + l.complaints
  from locked l where c.id = l.id
  returning c.id, c.company_id, ${isOverGuard("c")} as is_over_guard`;

const LOCK = `
  select from unnest($1::uuid[], $2::uuid[]) w (company_id, id) join campaigns c on c.id = w.id and c.company_id = w.company_id
  order by c.id for no key update of c`;

/** Locks campaigns before counting: all at once, in id order, like senders. */
export async function lockCampaigns(
  client: Client,
  campaigns: readonly { company_id: string; campaign_id: string }[],
): Promise<void> {
  const columns = [campaigns.map(({ company_id }) => company_id), campaigns.map(({ campaign_id }) => campaign_id)];
  await prepared("lock campaigns", LOCK, columns, client);
}

/** Counts returned mail and stops campaigns that exceed their limit. Returns their ids. */
export async function countReturns(client: Client, returns: readonly Returns[]): Promise<string[]> {
  if (returns.length === 0) return [];
  const columns = [
    returns.map(({ companyId }) => companyId),
    returns.map(({ campaignId }) => campaignId),
    returns.map(({ sentAt }) => sentAt),
    returns.map(({ hard }) => hard),
  ];
  type Counted = { id: string; company_id: string; is_over_guard: boolean };
  const counted = await prepared<Counted>("count returns", COUNT, columns, client);
  const stopped: string[] = [];
  for (const { id, company_id } of counted.filter(({ is_over_guard }) => is_over_guard)) {
    if (await stopOverGuard(client, company_id, id)) stopped.push(id);
  }
  return stopped;
}

interface Over {
  name: string;
  company: string;
  tried: number;
  hard_bounces: number;
  complaints: number;
  hard_bounce_percent: number;
  complaint_percent: number;
}

// Skips campaigns without remaining recipients, which cannot be stopped.
const READ = `
  select c.name, o.name as company, ${tried("c")} as tried, c.hard_bounces, c.complaints,
    ${allowed("hard_bounce_percent")}::float8 as hard_bounce_percent, ${allowed("complaint_percent")}::float8 as complaint_percent
  from campaigns c join companies o on o.id = c.company_id
  where c.company_id = $1 and c.id = $2 and c.status in ('pending', 'sending') and ${isOverGuard("c")}
    and (c.expanded_at is null or c.sent_count + c.failed_count < c.total_emails)
  for no key update of c`;

const STOP = `
  update campaigns set error = $3, stopped_at = now(), guard_stopped = true, updated_at = now()
  where company_id = $1 and id = $2`;

/** Formats a rate such as `25 of 200` in percent, with as few digits as possible. */
const percent = (part: number, whole: number) => `${Number(((100 * part) / whole).toPrecision(3))} %`;

function reasonOf(over: Over): string {
  const { tried: all, hard_bounces: hard, complaints } = over;
  const found =
    100 * hard > over.hard_bounce_percent * all
      ? `${hard} of ${all} mails bounced for good (${percent(hard, all)}, more than ${over.hard_bounce_percent} %)`
      : `${complaints} of ${all} mails were complained about (${percent(complaints, all)}, more than ${over.complaint_percent} %)`;
  return `Stopped by the guard: ${found}. Check where the addresses come from before you resume; counting starts again then.`;
}

/**
 * Stops the campaign. Returns the error if this call stopped it. The caller's transaction must not hold the row of a
 * campaign that comes later in id order.
 */
export async function stopOverGuard(
  client: Client,
  companyId: string,
  campaignId: string,
): Promise<string | undefined> {
  const exceeded = await queryOne<Over & Record<string, unknown>>(READ, [companyId, campaignId], client);
  if (!exceeded) return undefined;
  const reason = reasonOf(exceeded);
  await client.query(STOP, [companyId, campaignId, reason]);
  const { tried: mails, hard_bounces, complaints } = exceeded;
  const detail = { by: "guard", tried: mails, hard_bounces, complaints };
  await auditWithin(client, companyId, SYSTEM, { action: "campaign.stopped", target: campaignId, detail });
  const data = { company: exceeded.company, campaign: exceeded.name, reason };
  await noticeToOwnersWithin(client, companyId, "campaign_stopped", data);
  return reason;
}
