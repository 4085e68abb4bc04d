/** The list of sent emails: one row per recipient, whatever became of it. */
import { campaignNo } from "../../../models/database/campaign-no.ts";
import { query, queryOne } from "../../../models/database/db.ts";
import { type Listing, listPage, type Page } from "../../../models/database/listing.ts";
import { IS_LEASED } from "../../../models/send-chunk.ts";
import { SENT_EMAIL_STATUS, SENT_EMAIL_STATUSES } from "../../../models/sent-email-status.ts";
import { withIds } from "../../../models/statements/mail-key.ts";
import { call } from "../../call.ts";
import type { ParamsOf, ReturnsOf } from "../../contracts.ts";
import { asciiDomain, domainOf } from "../../lib/address.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { copiesOfMails } from "./copies-of-mails.ts";

type Asked = ParamsOf<"tracking.listSentEmails">;
type SentEmail = ReturnsOf<"tracking.listSentEmails">["results"][number];
type Status = SentEmail["status"];

interface Row {
  id: string;
  message_id: string;
  campaign_no: number;
  campaign_id: string;
  seq: number;
  subscriber_id: string | null;
  email: string;
  cc: string[] | null;
  bcc: string[] | null;
  status: number;
  handed_over: boolean;
  attempts: number;
  error: string | null;
  smtp_response: string | null;
  opened_at: Date | null;
  clicked_at: Date | null;
  bounced_at: Date | null;
  sent_at: Date | null;
  created_at: Date;
}

const { queued, sending } = SENT_EMAIL_STATUS;

/** Only campaigns that are under way have recipients that wait. */
const UNDER_WAY = "c.status in ('pending', 'sending', 'scheduled')";

/** Only these and those under way have recipients that failed (finalStatus); the others need not be looked at. */
const MAY_HAVE_FAILED = "c.status in ('pending', 'sending', 'partial', 'failed', 'cancelled') and c.failed_count > 0";

/** A queued recipient that its sender has marked is on its way; the mark is the chunk's (send_chunks), not the row's. */
const HANDED_OVER = `(s.status = ${queued} and s.next_attempt_at is null and exists (
  select from send_chunks h where h.company_id = $1 and h.campaign_id = c.id and h.state ${IS_LEASED}
    and s.seq between h.lo and h.marked_to))`;

/** Mails that came back after they had been sent, counted by campaign; campaign_counts_bounced has these alone. */
const CAME_BACK = "campaign_counts k where k.company_id = $1 and k.metric = 'bounced_unique' and k.bucket = 0";

/** Rows of those who were left out when campaign c started. */
const LEFT_OUT = "case when c.campaign_type <> 'to_list' then c.suppressed_count else 0 end";

function statusCondition(status: Status): string {
  if (status === "queued") return `(${UNDER_WAY} and s.status = ${queued} and not ${HANDED_OVER})`;
  if (status === "sending") return `(${UNDER_WAY} and (s.status = ${sending} or ${HANDED_OVER}))`;
  const of = `s.status = ${SENT_EMAIL_STATUS[status]}`;
  if (status === "sent") return of;
  // Recipients that were not sent to are few, in few campaigns, and all of them have a text that says why: an index has them.
  const more: Partial<Record<Status, string>> = {
    bounced: `c.id in (select k.campaign_id from ${CAME_BACK})`,
    suppressed: `${LEFT_OUT} > 0`,
  };
  const few = more[status] ? `(c.failed_count > 0 or ${more[status]})` : MAY_HAVE_FAILED;
  return `${of} and s.error is not null and ${few}`;
}

/**
 * The mails of an address: by its subscriber, and those of nobody's. Only these have an index on the address (a list's would
 * be a million random keys per campaign, while the subscriber's ids come in order). The parts' rows have an address of their
 * own where the subscriber had another one then.
 */
const ofRecipient = (address: string) => `(
  select campaign_no, seq from sent_emails
  where subscriber_id = (select id from subscribers where company_id = $1 and email_key = address_key(${address}))
    and (campaign_no < 0 or email is null or lower(email) = lower(${address}))
  union
  select campaign_no, seq from sent_emails
  where campaign_no < 0 and company_id = $1 and subscriber_id is null and lower(email) = lower(${address})
  union
  select campaign_no, seq from sent_emails
  where campaign_no >= 0 and email is not null and lower(email) = lower(${address}))`;

/** What the campaigns know of their recipients, instead of counting a million rows. */
async function countFromCampaigns(companyId: string, { campaign, status }: Asked): Promise<number> {
  const values = campaign ? [companyId, campaign] : [companyId];
  const kept = `campaigns c where c.company_id = $1 and c.recipients_state = 'kept'${campaign ? " and c.id = $2" : ""}`;
  const counted = status === "sent" ? "c.sent_count" : `c.next_seq - 1 + ${LEFT_OUT}`;
  const back =
    status === "sent"
      ? `(select coalesce(sum(k.n), 0) from ${CAME_BACK}${campaign ? " and k.campaign_id = $2" : ""}
          and exists (select from campaigns c where c.company_id = $1 and c.id = k.campaign_id and c.recipients_state = 'kept'))`
      : "0";
  const sql = `select ((select coalesce(sum(${counted}), 0) from ${kept}) - ${back})::bigint n`;
  return (await queryOne<{ n: number }>(sql, values))!.n;
}

const ADDRESS = "coalesce(s.email, p.email)";
/** A compact row was written when the expansion of its campaign began, or a moment later. */
const COLUMNS = `s.id, s.campaign_no, s.seq, c.id as campaign_id, s.subscriber_id, ${ADDRESS} as email, s.cc, s.bcc, s.status,
  s.attempts, s.error, reply_text(r.pattern, s.smtp_response) as smtp_response, s.opened_at, s.clicked_at, s.bounced_at,
  s.sent_at, coalesce(s.created_at, c.expansion_began_at, c.created_at) as created_at, ${HANDED_OVER} as handed_over`;

const RECIPIENT = "sent_emails s on s.campaign_no = c.no";
const SUBSCRIBER = "left join subscribers p on p.company_id = $1 and p.id = s.subscriber_id";
const OTHERS = `${SUBSCRIBER} left join reply_patterns r on r.company_id = $1 and r.no = s.reply_no`;

/**
 * Of each campaign no more rows are read than the page may need, newest campaign first. They are the list's own rows: joined to
 * it by their numbers, they would be read once for each other.
 */
const nearestOf =
  (where: readonly string[]): NonNullable<Listing["nearest"]> =>
  (n, direction) =>
    `campaigns c
  cross join lateral (
    select s.* from sent_emails s
    where s.campaign_no = c.no and ${["true", ...where].join(" and ")} order by s.seq ${direction} limit ${n}) s ${OTHERS}`;

/** Each one by itself, by its key: a join is planned as a scan of all. */
const atPlaces = (ids: string) => `(${ids}) k (campaign_no, seq)
  join campaigns c on c.no = k.campaign_no
  cross join lateral (select * from sent_emails x where x.campaign_no = k.campaign_no and x.seq = k.seq offset 0) s ${OTHERS}`;

function listing(companyId: string, asked: Asked): Listing {
  const where = ["c.company_id = $1", "c.recipients_state = 'kept'"];
  const values: unknown[] = [companyId];
  const add = (value: unknown) => `$${values.push(value)}`;
  let from = `campaigns c join ${RECIPIENT}`;
  // Looked up for itself: then PostgreSQL knows that one campaign's rows come in the order of their numbers.
  if (asked.campaign) where.push(`s.campaign_no = ${campaignNo(add(asked.campaign), "$1")}`);
  if (asked.recipient) {
    from = `${ofRecipient(add(asked.recipient.trim()))} k
      join sent_emails s on s.campaign_no = k.campaign_no and s.seq = k.seq join campaigns c on c.no = s.campaign_no`;
  }
  const status = asked.status ? [statusCondition(asked.status)] : [];
  const known = !asked.recipient && (!asked.status || asked.status === "sent");
  return {
    from: `${from} ${OTHERS}`,
    columns: COLUMNS,
    where: [...where, ...status],
    values,
    // Within a campaign the number is the order of creation too, and its index is at hand.
    id: asked.campaign ? "s.seq" : ["s.campaign_no", "s.seq"],
    orderings: { recipient: ADDRESS, sent_at: "s.sent_at" },
    searchIn: [ADDRESS],
    large: true,
    narrowedBy: "`campaign`, `status` or `recipient`",
    ...(known ? { count: () => countFromCampaigns(companyId, asked) } : {}),
    ...(asked.campaign || asked.recipient || asked.search
      ? {}
      : { id: ["c.no", "s.seq"], nearest: nearestOf(status), at: atPlaces }),
    filtered: true,
  };
}

const iso = (at: Date | null) => at?.toISOString() ?? null;

async function senderDomains(companyId: string, rows: readonly Row[]): Promise<Map<string, string>> {
  const ids = [...new Set(rows.map(({ campaign_id }) => campaign_id))];
  const sql =
    "select campaign_id, sender_email from campaign_contents where company_id = $1 and campaign_id = any ($2::uuid[])";
  const contents = await query<{ campaign_id: string; sender_email: string }>(sql, [companyId, ids]);
  return new Map(
    contents.map(({ campaign_id, sender_email }) => [campaign_id, asciiDomain(domainOf(sender_email)) ?? "localhost"]),
  );
}

const SUBJECTS_MS = 1_500;

export async function listSentEmails(ctx: Ctx<Asked>): Promise<Page<SentEmail>> {
  const companyId = companyOf(ctx);
  const { results, ...page } = await listPage<Row>(listing(companyId, ctx.params), ctx.params);
  await withIds(results);
  if (results.length === 0) return { ...page, results: [] };
  const [domains, copies, { subjects }] = await Promise.all([
    senderDomains(companyId, results),
    copiesOfMails(companyId, results),
    // A node that was killed gets calls until its silence is noticed; the repeated call reaches another one.
    call(ctx, "renderer.subjects", { ids: results.map(({ id }) => id) }, { timeout: SUBJECTS_MS, retries: 4 }),
  ]);
  const view = (row: Row, at: number): SentEmail => ({
    id: row.id,
    campaign_id: row.campaign_id,
    subscriber_id: row.subscriber_id,
    recipient: row.email,
    cc: row.cc ?? [],
    bcc: row.bcc ?? [],
    copies: copies[at]!,
    subject: subjects[at] ?? "",
    status: row.handed_over ? "sending" : SENT_EMAIL_STATUSES[row.status]!,
    attempts: row.attempts,
    error: row.error,
    smtp_response: row.smtp_response,
    message_id: `<${row.message_id}@${domains.get(row.campaign_id)}>`,
    opened_at: iso(row.opened_at),
    clicked_at: iso(row.clicked_at),
    bounced_at: iso(row.bounced_at),
    sent_at: iso(row.sent_at),
    created_at: row.created_at.toISOString(),
  });
  return { ...page, results: results.map(view) };
}
