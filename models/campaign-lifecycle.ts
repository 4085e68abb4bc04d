/**
 * Defines the states of a campaign and every transition between them.
 *
 * scheduled   Waits for its time. Recipients are not selected yet: membership is evaluated at the start. A campaign by
 *             recipients' time zones waits for the first of them.
 * pending     Will be sent: its recipients are being written, or wait for the first sender. Also after a resume.
 * sending     A sender has claimed recipients. Stays so while mail waits for a retry, a limit, the recipients' local
 *             time, or the winner of the variants.
 * completed   Every recipient was sent to, or nobody was eligible.
 * partial     Every recipient is final, some were sent to and some failed (including bounced, suppressed after the
 *             start and unknown) or exceeded the monthly quota; or it was stopped by a person or the guard: untried
 *             recipients count as failed, or as unknown after a database restore.
 * failed      Nobody was sent to, or an error stopped it (a refused login or sender address, 24 hours of a server that
 *             fails, 20 equal refusals in a row, the configuration, list or segment deleted, content or receivers that
 *             cannot be read): untried recipients count as failed.
 * cancelled   Cancelled before its time, or stopped by a person before any mail was sent. Final.
 *
 * completed, partial and failed are reached from pending as well: an empty audience, a resume without recipients to
 * retry, an error before the first claim. A failed campaign can be resumed only when an email of it was sent or is in
 * doubt. partial and failed can change without a resume: a sender that was cut off returns with results of recipients
 * in doubt, or evidence settles the doubt (`lateStatus`). Later bounces change nothing.
 *
 * | to | moved by |
 * |---|---|
 * | (new) scheduled, pending | services/campaigns/send/send.ts; confirmations: services/campaigns/expansion/write-confirmation.ts |
 * | pending, cancelled | services/campaigns/lifecycle/schedule.ts, start-by-zone.ts, resume.ts |
 * | sending | services/smtp-sender/claim/claim-statements.ts, with the first lease |
 * | completed, partial, failed, cancelled (stopped) | services/campaigns/lifecycle/settle.ts (a stop writes an error, and this ends it); late: models/statements/record-late-outcomes.ts, settle-doubt.ts |
 *
 * A finished campaign may be deleted (`deleted_at`): it keeps its status, and no transition applies any more, because
 * it has an error.
 *
 * Each transition is one conditional UPDATE that locks the row: of two concurrent callers one succeeds and the other
 * learns that it did not.
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
 * Makes the move where the table allows it from the present state; false if it does not, or another made it first.
 * The transaction should be short: the row's lock is held to its end, and senders wait for it to write their results.
 */
export async function moveTo(client: Queryable, campaignId: string, to: Status): Promise<boolean> {
  return (await moveAllTo(client, [campaignId], to)).length === 1;
}

/**
 * Moves several campaigns in one statement and returns the ids of those that moved. Callers that lock several rows must
 * lock them in id order.
 */
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
  /**
   * Stopped by a person, a key, or the guard. `wasTried`: whether an email may have been sent, or the reason of the stop.
   */
  stopped?: { wasTried: boolean };
}

/** Final status of a campaign, once each of its recipients is final. */
export function finalStatus(counts: FinalCounts): Status {
  if (counts.stopped && (counts.failed > 0 || counts.sent === 0)) {
    return counts.sent > 0 || counts.stopped.wasTried ? "partial" : "cancelled";
  }
  // An error without failed recipients came after the last recipient.
  if (counts.error !== null && (counts.failed > 0 || counts.sent === 0)) return "failed";
  if (counts.failed === 0) return "completed";
  return counts.sent === 0 ? "failed" : "partial";
}

/**
 * SQL: recipients of campaign g may return to the queue. A campaign that ended with an error stays ended until it is
 * resumed.
 */
export const MAY_SEND_AGAIN = (g: string) =>
  `(${g}.status in ('pending', 'sending') or (${g}.status in ('partial', 'failed') and ${g}.error is null))`;

/**
 * SQL: status of campaign c after late counts n (sent, failed, queued: increments). The only transition that is part of
 * another statement: a campaign that ended with recipients in doubt restarts for those not sent to, or ends as its
 * counts now say (as in finalStatus).
 */
export const lateStatus = (n: string): string => `case
  when c.status not in ('partial', 'failed') or c.error is not null then c.status
  when ${n}.queued > 0 then 'pending'
  when c.failed_count + ${n}.failed = 0 then 'completed'
  when c.sent_count + ${n}.sent = 0 then 'failed'
  else 'partial' end`;
