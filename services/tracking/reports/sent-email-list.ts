/** The list of sent emails: one row per recipient, whatever became of it. */
import { query, queryOne } from "../../../models/database/db.ts";
import { type Listing, listPage } from "../../../models/database/listing.ts";
import { SEND_CHUNK_STATE } from "../../../models/send-chunk.ts";
import { SENT_EMAIL_STATUS, SENT_EMAIL_STATUSES } from "../../../models/sent-email-status.ts";
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

/** A queued recipient that its sender has marked is on its way; the mark is the chunk's (send_chunks), not the row's. */
const HANDED_OVER = `(s.status = ${queued} and s.next_attempt_at is null and exists (
  select from send_chunks c where c.company_id = s.company_id and c.campaign_id = s.campaign_id and c.state = ${SEND_CHUNK_STATE.leased}
    and s.seq between c.lo and c.marked_to))`;

function statusCondition(status: Status): string {
  if (status === "queued") return `(s.status = ${queued} and not ${HANDED_OVER})`;
  if (status === "sending") return `(s.status = ${sending} or ${HANDED_OVER})`;
  // Recipients that were not sent are few, in few campaigns: the others need not be looked at.
  const among =
    status === "sent"
      ? ""
      : " and s.campaign_id in (select id from campaigns where company_id = $1 and failed_count > 0)";
  return `s.status = ${SENT_EMAIL_STATUS[status]}${among}`;
}

/**
 * The mails of an address, as a condition over sent_emails: by its subscriber, plus those that had none. The table has no
 * index on the address (a million random keys per campaign), but the subscriber's ids come in order.
 */
const ofRecipient = (alias: string, company: string, address: string) => `(
  ${alias}.subscriber_id = (select id from subscribers where company_id = ${company} and email_key = lower(${address}))
  or (${alias}.company_id = ${company} and ${alias}.subscriber_id is null and lower(${alias}.email) = lower(${address})))`;

/** What the campaigns know of their recipients, instead of counting a million rows. */
async function countFromCampaigns(companyId: string, { campaign, status }: Asked): Promise<number> {
  const counted = status === "sent" ? "sent_count" : "next_seq - 1";
  const sql = `select coalesce(sum(${counted}), 0)::bigint n from campaigns
    where company_id = $1 and ($2::uuid is null or id = $2)`;
  return (await queryOne<{ n: number }>(sql, [companyId, campaign ?? null]))!.n;
}

function listing(companyId: string, asked: Asked): Listing {
  const where = ["s.company_id = $1"];
  const values: unknown[] = [companyId];
  const add = (condition: (parameter: string) => string, value: unknown) => {
    values.push(value);
    where.push(condition(`$${values.length}`));
  };
  if (asked.campaign) add((campaign) => `s.campaign_id = ${campaign}`, asked.campaign);
  if (asked.recipient) add((address) => ofRecipient("s", "$1", address), asked.recipient.trim());
  if (asked.status) where.push(statusCondition(asked.status));
  const known = !asked.recipient && (!asked.status || asked.status === "sent");
  return {
    from: "sent_emails s",
    columns: `s.*, ${HANDED_OVER} as handed_over`,
    where,
    values,
    // Within a campaign the number is the order of creation too, and its index is at hand.
    id: asked.campaign ? "s.seq" : "s.id",
    orderings: { recipient: "s.email", sent_at: "s.sent_at" },
    searchIn: ["s.email"],
    large: true,
    ...(known ? { count: () => countFromCampaigns(companyId, asked) } : {}),
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

export async function listSentEmails(ctx: Ctx<Asked>): Promise<{ count: number; results: SentEmail[] }> {
  const companyId = companyOf(ctx);
  const { count, results } = await listPage<Row>(listing(companyId, ctx.params), ctx.params);
  if (results.length === 0) return { count, results: [] };
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
    message_id: `<${row.id}@${domains.get(row.campaign_id)}>`,
    opened_at: iso(row.opened_at),
    clicked_at: iso(row.clicked_at),
    bounced_at: iso(row.bounced_at),
    sent_at: iso(row.sent_at),
    created_at: row.created_at.toISOString(),
  });
  return { count, results: results.map(view) };
}
