/**
 * The states of a campaign and every way from one to another.
 *
 * scheduled   Waits for its time. Nobody has been chosen yet: membership is evaluated when it starts. One that goes by the
 *             recipients' timezones waits for the first of them.
 * pending     Will be sent: its recipients are being written, or wait for the first sender. Also after a resume.
 * sending     A sender has claimed recipients. Stays so while mail waits for another try, for room in the hour,
 *             for the hour of its recipients, or for the winner of the variants.
 * completed   Every recipient was sent to, or nobody was eligible.
 * partial     Every recipient is final, some were sent to and some failed (bounced, suppressed after the start and unknown are among
 *             these), or found no room in the month's quota; or somebody
 *             stopped it, or the guard did: what was not tried counts as failed; of one that a restored database stopped it is
 *             unknown.
 * failed      Nobody was sent to, or an error stopped it (a refused login or sender address, 24 hours of a server that
 *             fails, 20 equal refusals in a row, the configuration, list or segment deleted, content or receivers that
 *             cannot be read): what was not tried counts as failed.
 * cancelled   Was called off before its time, or stopped by somebody before any mail of it was sent. Final.
 *
 * completed, partial and failed are reached from pending as well: an empty audience, a resume that finds nobody to try
 * again, an error before the first claim. A failed campaign can be resumed only when a mail of it was sent or is in doubt.
 * partial and failed can be left once more without a resume: a sender that was cut off comes back and knows what became of
 * recipients in doubt, or evidence settles the doubt (`lateStatus`). A bounce that comes later moves nothing.
 *
 * | to                         | moved by                                                                          |
 * |----------------------------|-----------------------------------------------------------------------------------|
 * | (new) scheduled, pending   | services/campaigns/send/send.ts; confirmations: services/campaigns/expansion/write-confirmation.ts |
 * | pending, cancelled         | services/campaigns/lifecycle/schedule.ts, start-by-zone.ts, resume.ts             |
 * | sending                    | services/smtp-sender/claim/claim-statements.ts, with the first lease              |
 * | completed, partial, failed, cancelled (stopped) | services/campaigns/lifecycle/settle.ts (a stop writes an error, and this ends it); late: models/statements/record-late-outcomes.ts, settle-doubt.ts |
 *
 * One that is over may be deleted (`deleted_at`): it keeps its status, and nothing moves it any more, because it has an error.
 *
 * Each move is one conditional UPDATE, which takes the row's lock: of two that want the same move, one makes it and the
 * other learns that it did not.
 */
import { CAMPAIGN_STATUSES, type CampaignStatus } from "./campaign.ts";
import { type Queryable, query } from "./database/db.ts";

export const STATUSES = CAMPAIGN_STATUSES;
export type Status = CampaignStatus;

const moves: Record<Status, readonly Status[]> = {
  scheduled: ["pending", "cancelled"],
  pending: ["sending", "completed", "partial", "failed", "cancelled"],
  sending: ["completed", "partial", "failed", "cancelled"],
  // Late answers of a sender that was cut off (`lateStatus`): what was in doubt was sent.
  partial: ["pending", "completed"],
  failed: ["pending", "completed", "partial"],
  completed: [],
  cancelled: [],
};

export const mayMove = (from: Status, to: Status): boolean => moves[from].includes(to);

const sources = (to: Status) => STATUSES.filter((from) => mayMove(from, to));

/**
 * Makes the move where the table allows it from the present state; false where it does not, or another made it first.
 * The transaction should be short: the row's lock is held to its end, and senders wait for it to write their results.
 */
export async function moveTo(client: Queryable, campaignId: string, to: Status): Promise<boolean> {
  return (await moveAllTo(client, [campaignId], to)).length === 1;
}

/** The same for several campaigns in one statement; the ids of those that moved. Callers that lock several rows must lock them in the order of ids. */
export async function moveAllTo(client: Queryable, campaignIds: readonly string[], to: Status): Promise<string[]> {
  const moved = await query<{ id: string }>(
    `update campaigns set
       status = $2,
       started_at = case when $2 = 'sending' then coalesce(started_at, now()) else started_at end,
       individual_tracking = case when $2 = 'pending' and status = 'scheduled'
         then (select k.individual_tracking from companies k where k.id = campaigns.company_id) else individual_tracking end,
       finished_at = case when $2 in ('completed', 'partial', 'failed', 'cancelled') then now() end,
       updated_at = now()
     where id = any($1) and status = any($3)
     returning id`,
    [campaignIds, to, sources(to)],
    client,
  );
  return moved.map(({ id }) => id);
}

const begins = `c.status in (${sources("sending")
  .map((status) => `'${status}'`)
  .join(", ")})`;

/** The move to `sending` for a statement that writes more of the campaign `c`: its columns, unchanged where it does not move. */
export const BEGIN_SENDING = `status = case when ${begins} then 'sending' else c.status end,
  started_at = case when ${begins} then coalesce(c.started_at, now()) else c.started_at end,
  finished_at = case when not ${begins} then c.finished_at end,
  updated_at = case when ${begins} then now() else c.updated_at end`;

interface FinalCounts {
  sent: number;
  failed: number;
  error: string | null;
  /** By a person, a key, or the guard: `wasTried` says whether a mail of it may have been sent, or is why it was stopped. */
  stopped?: { wasTried: boolean };
}

/** What a campaign ends as, once each of its recipients is final. */
export function finalStatus(counts: FinalCounts): Status {
  if (counts.stopped && (counts.failed > 0 || counts.sent === 0)) {
    return counts.sent > 0 || counts.stopped.wasTried ? "partial" : "cancelled";
  }
  // An error with nobody failed came when nobody was left whom it could stop.
  if (counts.error !== null && (counts.failed > 0 || counts.sent === 0)) return "failed";
  if (counts.failed === 0) return "completed";
  return counts.sent === 0 ? "failed" : "partial";
}

/** SQL: recipients of campaign g may go back to the queue. One that ended for an error stays as it is until it is resumed. */
export const MAY_SEND_AGAIN = (g: string) =>
  `(${g}.status in ('pending', 'sending') or (${g}.status in ('partial', 'failed') and ${g}.error is null))`;

/**
 * SQL: the status of campaign c after counts n (sent, failed, queued: what is added) came late. The one move without a
 * transaction of its own: a campaign that had ended with recipients in doubt begins again for those who were not sent to,
 * or ends as its counts say now (as in finalStatus).
 */
export const lateStatus = (n: string): string => `case
  when c.status not in ('partial', 'failed') or c.error is not null then c.status
  when ${n}.queued > 0 then 'pending'
  when c.failed_count + ${n}.failed = 0 then 'completed'
  when c.sent_count + ${n}.sent = 0 then 'failed'
  else 'partial' end`;
