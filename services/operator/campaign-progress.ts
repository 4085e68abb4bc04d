/** Progress of campaigns and reasons of failed recipients, over all companies because an operator asks. */
import { CAMPAIGN_ERROR, Campaign } from "../../models/campaign.ts";
import { query } from "../../models/database/db.ts";
import { SEND_CHUNK_STATE } from "../../models/send-chunk.ts";
import { SENT_EMAIL_STATUS, SENT_EMAIL_STATUSES } from "../../models/sent-email-status.ts";
import { awaitsWinner } from "../../models/statements/decide-winner.ts";
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import type { Ctx } from "../lib/caller.ts";
import { notFound } from "../lib/errors.ts";
import { backingOff } from "./live-status.ts";
import type { Mail, Step } from "./mail-steps.ts";

const MAX_ROWS = 200;
const A_SENDER = "a sender";

// Reads a refresh with one statement; each column is a probe of a partial index.
const UNFINISHED = `
  select c.id, c.smtp_config_id, co.name company, c.name, c.status, c.total_emails, c.sent_count, c.failed_count, c.scheduled_for,
    ${CAMPAIGN_ERROR} as error,
    case
      when c.status = 'scheduled' then 'its time'
      when co.sending_paused_at is not null then 'the company to be unpaused'
      when c.error is not null then 'the last senders to stop'
      when c.expanded_at is null and c.next_seq = 1 then 'its recipients to be written'
      when exists (select from send_chunks h where h.company_id = c.company_id and h.campaign_id = c.id and h.state = ${SEND_CHUNK_STATE.leased})
        then null
      when exists (select from send_chunks h where h.company_id = c.company_id and h.campaign_id = c.id and h.state = ${SEND_CHUNK_STATE.ready})
        then coalesce((
          select 'the next day of its warm-up at ' || to_char(w.full_until at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
          from warmup_ledgers w
          where w.company_id = c.company_id and w.smtp_config_id = c.smtp_config_id and w.full_until > now()), '${A_SENDER}')
      when ${awaitsWinner("c.company_id", "c.id")} then 'the winner of its variants'
      when exists (select from send_chunks h where h.company_id = c.company_id and h.campaign_id = c.id and h.state = ${SEND_CHUNK_STATE.waiting})
        then (select 'its next timezone at ' || to_char(min(h.due_at) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
          from send_chunks h where h.company_id = c.company_id and h.campaign_id = c.id and h.state = ${SEND_CHUNK_STATE.waiting})
      else (select 'another try at ' || to_char(min(e.next_attempt_at) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
        from sent_emails e
        where e.campaign_no = c.no and e.next_attempt_at is not null)
    end as waiting_for
  from campaigns c join companies co on co.id = c.company_id
  where c.status in ('pending', 'sending', 'scheduled') and ($1::uuid is null or c.company_id = $1)
  order by c.status = 'scheduled', c.scheduled_for, c.id
  limit ${MAX_ROWS}`;

interface UnfinishedCampaign {
  id: string;
  smtp_config_id: string;
  company: string;
  name: string;
  status: string;
  total_emails: number;
  sent_count: number;
  failed_count: number;
  scheduled_for: Date | null;
  waiting_for: string | null;
  error: string | null;
}

/** Back-offs by SMTP configuration. Only the sender knows when it backs off from a failing mail server. */
async function backOffs(ctx: Ctx, campaigns: UnfinishedCampaign[]): Promise<Map<string, string>> {
  if (!campaigns.some(({ waiting_for }) => waiting_for === A_SENDER)) return new Map();
  const servers = await backingOff(ctx);
  return new Map(
    servers.map(({ smtp_config_id, host, until }) => [smtp_config_id, `${host}, backing off until ${until}`]),
  );
}

interface Reading {
  at: number;
  /** Finished recipients by campaign. */
  done: Map<string, number>;
}

const doneOf = ({ sent_count, failed_count }: Pick<UnfinishedCampaign, "sent_count" | "failed_count">) =>
  sent_count + failed_count;
const readingOf = (campaigns: UnfinishedCampaign[]): Reading => ({
  at: performance.now(),
  done: new Map(campaigns.map((campaign) => [campaign.id, doneOf(campaign)])),
});

/** An average over a longer time would not show the current rate. */
const OLDEST_READING_MS = 30_000;
/** Prevents a rate over a few milliseconds when two viewers ask at the same time. */
const NEWEST_READING_MS = 900;
let lastReadings: Reading[] = [];

/** Returns the newest reading that is old enough to compare with, and stores the current one for the next request. */
function readingBefore(now: Reading): Reading | undefined {
  lastReadings = lastReadings.filter(({ at }) => now.at - at < OLDEST_READING_MS);
  const before = lastReadings.findLast(({ at }) => now.at - at >= NEWEST_READING_MS);
  const last = lastReadings.at(-1);
  if (!last || now.at - last.at >= NEWEST_READING_MS) lastReadings.push(now);
  return before;
}

type Question = ParamsOf<"operator.campaigns">;

/** The rate compares the counts with those of an earlier request; requests about one company return no rate. */
export async function runningCampaigns(
  ctx: Ctx,
  { company_id }: Question = {},
): Promise<ReturnsOf<"operator.campaigns">> {
  const now = await query<UnfinishedCampaign>(UNFINISHED, [company_id ?? null]);
  const before = company_id === undefined ? readingBefore(readingOf(now)) : undefined;
  const seconds = before ? (performance.now() - before.at) / 1_000 : 0;
  const backingOffUntil = await backOffs(ctx, now);
  return now.map(({ smtp_config_id, ...campaign }) => {
    const done = doneOf(campaign);
    const rate = before ? Math.max(0, done - (before.done.get(campaign.id) ?? done)) / seconds : null;
    const remaining = Math.max(0, campaign.total_emails - done);
    return {
      ...campaign,
      waiting_for: (campaign.waiting_for === A_SENDER && backingOffUntil.get(smtp_config_id)) || campaign.waiting_for,
      scheduled_for: campaign.scheduled_for?.toISOString() ?? null,
      mails_per_second: rate === null ? null : Math.round(rate * 10) / 10,
      seconds_left: rate ? Math.ceil(remaining / rate) : null,
    };
  });
}

/**
 * Explains what the campaign of a queued mail waits for, if known: general reasons, and problems of the campaign
 * itself.
 */
export async function waitingSteps(
  ctx: Ctx,
  { status, company_id, campaign_id }: Pick<Mail, "status" | "company_id" | "campaign_id">,
): Promise<Step[]> {
  if (status !== SENT_EMAIL_STATUS.queued) return [];
  const campaign = (await runningCampaigns(ctx, { company_id })).find(({ id }) => id === campaign_id);
  const detail = [campaign?.waiting_for && `for ${campaign.waiting_for}`, campaign?.error].filter(Boolean).join("; ");
  return detail ? [{ at: new Date().toISOString(), what: "campaign waits", detail }] : [];
}

const { failed, bounced, suppressed, unknown } = SENT_EMAIL_STATUS;

// Removes numbers and addresses, which differ per recipient, so that equal reasons form a group.
const FAILURES = `
  select e.status, left(regexp_replace(coalesce(e.error, e.smtp_response, ''), '<?[^\\s<>]+@[^\\s<>]+>?', '<address>', 'g'), 200) reason,
    count(*)::int recipients, min(coalesce(e.email, s.email)) example
  from campaigns c join sent_emails e on e.campaign_no = c.no
  left join subscribers s on s.company_id = c.company_id and s.id = e.subscriber_id
  where c.id = $1 and e.status = any ($2)
  group by 1, 2 order by recipients desc, 1, 2 limit ${MAX_ROWS}`;

interface Failure {
  status: number;
  reason: string;
  recipients: number;
  example: string;
}

export async function failuresByReason(campaignId: string): Promise<ReturnsOf<"operator.failures">> {
  const rows = await query<Failure>(FAILURES, [campaignId, [failed, bounced, suppressed, unknown]]);
  // Distinguishes an unknown campaign from one without failures.
  if (rows.length === 0 && !(await Campaign.findOne({ attributes: ["id"], where: { id: campaignId } })))
    throw notFound();
  return rows.map((row) => ({ ...row, status: SENT_EMAIL_STATUSES[row.status]! }));
}
