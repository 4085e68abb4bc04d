/**
 * SQL that finds a company's messages with one status, for a million campaigns of one message as well as for one
 * campaign of a million messages. No index contains the status itself, which would make every update of an accepted
 * message slower.
 */
import { SEND_CHUNK_STATE } from "../../../models/send-chunk.ts";
import { SENT_EMAIL_STATUS, type SentEmailStatus } from "../../../models/sent-email-status.ts";

const { queued, sending } = SENT_EMAIL_STATUS;

/** A queued recipient marked by its sender is being sent; the mark is the chunk's (send_chunks), not the row's. */
export const HANDED_OVER = `(s.status = ${queued} and s.next_attempt_at is null and exists (
  select from send_chunks h where h.company_id = $1 and h.campaign_id = c.id and h.state = ${SEND_CHUNK_STATE.leased}
    and s.seq between h.lo and h.marked_to))`;

/**
 * Messages that bounced after they were sent, counted by campaign; the index campaign_counts_bounced contains only
 * these.
 */
export const CAME_BACK = "campaign_counts k where k.company_id = $1 and k.metric = 'bounced_unique' and k.bucket = 0";

/** Selects campaigns with waiting recipients, in two parts, each with its own index. */
const UNDER_WAY = `select no from campaigns where company_id = $1 and status in ('pending', 'sending')
  union select no from campaigns where company_id = $1 and status = 'scheduled'`;

/** Matches the partial index. All messages of other finished campaigns were sent. */
const NOT_ALL_SENT = `select no from campaigns where company_id = $1
  and (status in ('partial', 'failed', 'cancelled', 'scheduled') or suppressed_count > 0)`;

const RETURNED = `select no from campaigns where company_id = $1 and id in (select k.campaign_id from ${CAME_BACK})`;

type Waiting = Extract<SentEmailStatus, "queued" | "sending">;
const isWaiting = (status: SentEmailStatus): status is Waiting => status === "queued" || status === "sending";

function numbersWith(status: Exclude<SentEmailStatus, "sent">): string {
  if (isWaiting(status)) return UNDER_WAY;
  const notSent = `${UNDER_WAY} union ${NOT_ALL_SENT}`;
  return status === "bounced" ? `${notSent} union ${RETURNED}` : notSent;
}

/** Matches the partial index: recipients not sent to, without bounces. They have an error text. */
export const HAS_FAILED = "s.error is not null and s.bounced_at is null and s.next_attempt_at is null";

/**
 * Campaigns c of company $1 that may have messages with this status, in a stable order. Each is read by its number,
 * because a join would read all of them again for each campaign if the planner has no statistics of the company.
 */
export function campaignsOf(statuses: readonly SentEmailStatus[], inOrder = ""): string {
  if (statuses.length === 0 || statuses.includes("sent")) return "campaigns c";
  const few = new Set(statuses.map((status) => numbersWith(status as Exclude<SentEmailStatus, "sent">)));
  return `(select no from (${[...few].join(" union ")}) few ${inOrder}) few
      cross join lateral (select * from campaigns where no = few.no offset 0) c`;
}

/** Condition: message s of campaign c has one of these statuses. */
export const hasStatus = (statuses: readonly SentEmailStatus[]): string =>
  statuses.length === 1 ? isOf(statuses[0]!) : `(${statuses.map((status) => `(${isOf(status)})`).join(" or ")})`;

function isOf(status: SentEmailStatus): string {
  if (isWaiting(status)) {
    const is =
      status === "queued" ? `s.status = ${queued} and not ${HANDED_OVER}` : `(s.status = ${sending} or ${HANDED_OVER})`;
    return `c.status in ('pending', 'sending', 'scheduled') and ${is}`;
  }
  const condition = `s.status = ${SENT_EMAIL_STATUS[status]}`;
  if (status === "sent") return condition;
  return status === "bounced" ? `${condition} and s.bounced_at is not null` : `${condition} and ${HAS_FAILED}`;
}

const endOf = (which: "min(h.lo)" | "max(h.hi)") =>
  `(select ${which} from send_chunks h where h.company_id = $1 and h.campaign_id = c.id and h.state <> ${SEND_CHUNK_STATE.done})`;

/**
 * Messages of campaign c, with one of these statuses if given; `nearest` sets order and limit. Waiting ones have a next
 * attempt, which is indexed, or an unfinished chunk, so that the rows between are skipped.
 */
export function mailsOf(statuses: readonly SentEmailStatus[], nearest = ""): string {
  const statusCondition = statuses.length > 0 ? ` and ${hasStatus(statuses)}` : "";
  const rows = (where: string) =>
    `select s.* from sent_emails s where s.campaign_no = c.no and ${where}${statusCondition} ${nearest}`;
  if (statuses.length === 0 || !statuses.every(isWaiting)) return rows("true");
  return `(${rows("s.next_attempt_at is not null")}) union all
    (${rows(`s.next_attempt_at is null and s.seq between ${endOf("min(h.lo)")} and ${endOf("max(h.hi)")}`)})`;
}
