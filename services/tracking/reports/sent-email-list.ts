/** List of sent emails: one row per recipient, whatever its status. */
import { campaignNo } from "../../../models/database/campaign-no.ts";
import { query, queryOne } from "../../../models/database/db.ts";
import { isAfterKey, type Listing, listPage, type Page } from "../../../models/database/listing.ts";
import { subscriberAt } from "../../../models/database/row-at.ts";
import { SENT_EMAIL_STATUSES, type SentEmailStatus } from "../../../models/sent-email-status.ts";
import { withIds } from "../../../models/statements/mail-key.ts";
import { call } from "../../call.ts";
import type { ParamsOf, ReturnsOf } from "../../contracts.ts";
import { asciiDomain, domainOf } from "../../lib/address.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { copiesOfMails } from "./copies-of-mails.ts";
import { CAME_BACK, campaignsOf, HANDED_OVER, hasStatus, mailsOf } from "./mails-by-status.ts";

type ListParams = ParamsOf<"tracking.listSentEmails">;
type SentEmail = ReturnsOf<"tracking.listSentEmails">["results"][number];

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

/**
 * Messages to an address: by its subscriber, and those without a subscriber. Only the latter have an index on the
 * address (for a list it would cost a million random index entries per campaign, while subscriber ids come in order).
 * Rows keep their own address if the subscriber had another one at that time.
 */
const ofRecipient = (address: string) => `
  select campaign_no, seq from sent_emails
  where subscriber_id = (select id from subscribers where company_id = $1 and email_key = address_key(${address}))
    and (email is null or lower(email) = lower(${address}))
  union
  select campaign_no, seq from sent_emails
  where email is not null and lower(email) = lower(${address})`;

/** Messages that bounced after being sent, of a company's campaigns or of one. */
const returnedMails = (campaign: string) =>
  `(select coalesce(sum(k.n), 0) from ${CAME_BACK}${campaign}
    and exists (select from campaigns c where c.company_id = $1 and c.id = k.campaign_id and c.recipients_state = 'kept'))`;

/** Uses the campaigns' own counts and counters instead of counting a million rows. */
async function knownCount(companyId: string, campaign: string | undefined, isSent: boolean): Promise<number> {
  const back = isSent ? returnedMails(campaign ? " and k.campaign_id = $2" : "") : "0";
  if (!campaign) {
    const counter = isSent ? "mails:sent" : "mails";
    return (await queryOne<{ n: number }>(`select (count_of($1, $2, $1) - ${back})::bigint n`, [companyId, counter]))!
      .n;
  }
  const counted = isSent
    ? "sent_count"
    : "next_seq - 1 + case when campaign_type <> 'to_list' then suppressed_count else 0 end";
  const kept = "campaigns where company_id = $1 and id = $2 and recipients_state = 'kept'";
  const sql = `select (coalesce((select ${counted} from ${kept}), 0) - ${back})::bigint n`;
  return (await queryOne<{ n: number }>(sql, [companyId, campaign]))!.n;
}

const ADDRESS = "coalesce(s.email, p.email)";
/** A row is written when its campaign's expansion begins, or shortly after. */
const COLUMNS = `s.campaign_no, s.seq, c.id as campaign_id, s.subscriber_id, ${ADDRESS} as email, s.cc, s.bcc, s.status,
  s.attempts, s.error, s.smtp_response, s.opened_at, s.clicked_at, s.bounced_at,
  s.sent_at, coalesce(c.expansion_began_at, c.created_at) as created_at, ${HANDED_OVER} as handed_over`;

const OTHERS = `left join subscribers p on p.company_id = $1 and p.id = s.subscriber_id`;
/**
 * Looks up each message's subscriber by key. A join per campaign would read all subscribers of the company each time.
 */
const OTHERS_BY_KEY = `left join lateral (${subscriberAt("$1", "s.subscriber_id", "r.email")}) p on true`;
/**
 * If a numbered page skips more rows than this, a plain join is cheaper, because PostgreSQL removes it when no column
 * of it is needed.
 */
const MOST_BY_KEY = 2_000;

/**
 * Reads no more rows per campaign than the page needs. The limit is a sub-select that hides its value from the planner,
 * which would otherwise sort all rows of a large campaign.
 */
const nearestOf =
  (campaign: string | undefined, statuses: readonly SentEmailStatus[]): NonNullable<Listing["nearest"]> =>
  (range) => {
    const { direction, limit, place } = range;
    const fromCampaign = !campaign && place ? `no ${direction === "desc" ? "<=" : ">="} ${place[0]}` : "true";
    const behind = isAfterKey(campaign ? ["s.seq"] : ["s.campaign_no", "s.seq"], range);
    const campaigns = campaign
      ? "campaigns c"
      : campaignsOf(statuses, `where ${fromCampaign} order by no ${direction} offset 0`);
    const mails = mailsOf(statuses, `and ${behind} order by s.seq ${direction} limit (select ${limit})`);
    return `${campaigns} join lateral (${mails}) s on ${fromCampaign === "true" ? "true" : `c.${fromCampaign}`}
      ${limit > MOST_BY_KEY ? OTHERS : OTHERS_BY_KEY}`;
  };

function listing(companyId: string, asked: ListParams): Listing {
  // Campaigns without a number have no recipients yet.
  const where = ["c.company_id = $1", "c.no is not null", "c.recipients_state = 'kept'"];
  const values: unknown[] = [companyId];
  const add = (value: unknown) => `$${values.push(value)}`;
  const [campaigns, recipients] = [[asked.campaign ?? []].flat(), [asked.recipient ?? []].flat()];
  const campaign = campaigns.length === 1 ? campaigns[0] : undefined;
  const statuses = [asked.status ?? []].flat();
  const no = campaign && campaignNo(add(campaign), "$1");
  const read = no ? `(select * from campaigns where company_id = $1 and no = ${no} offset 0) c` : campaignsOf(statuses);
  let from = `${read} cross join lateral (${mailsOf(statuses)}) s`;
  // Two separate look-ups, so that PostgreSQL knows that the rows of one campaign are in the order of their numbers.
  if (no) where.push(`c.no = ${no}`, `s.campaign_no = ${no}`);
  else if (campaigns.length > 1) where.push(`c.id = any(${add(campaigns)})`);
  if (recipients.length > 0) {
    from = `(${recipients.map((address) => ofRecipient(add(address.trim()))).join(" union ")}) k
      join sent_emails s on s.campaign_no = k.campaign_no and s.seq = k.seq join campaigns c on c.no = s.campaign_no`;
  }
  if (statuses.length > 0) where.push(hasStatus(statuses));
  const isOfMany = recipients.length > 0 || campaigns.length > 1;
  const isByNumber = !isOfMany && !asked.search;
  const isSent = asked.status === "sent";
  const known = !isOfMany && (isSent || statuses.length === 0);
  return {
    from: `${from} ${OTHERS}`,
    columns: COLUMNS,
    where,
    values,
    // The recipient number is indexed and, within a campaign, in the order of creation.
    id: campaign ? "s.seq" : ["s.campaign_no", "s.seq"],
    orderings: { recipient: `coalesce(${ADDRESS}, '')`, sent_at: "coalesce(s.sent_at, 'infinity')" },
    searchIn: [ADDRESS],
    large: true,
    ...(known ? { count: () => knownCount(companyId, campaign, isSent) } : {}),
    ...(isByNumber ? { nearest: nearestOf(campaign, statuses) } : {}),
    ...(isByNumber && !campaign ? { id: ["c.no", "s.seq"] } : {}),
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

export async function listSentEmails(ctx: Ctx<ListParams>): Promise<Page<SentEmail>> {
  const companyId = companyOf(ctx);
  const { results, ...page } = await listPage<Row>(listing(companyId, ctx.params), ctx.params);
  await withIds(results);
  if (results.length === 0) return { ...page, results: [] };
  const [domains, copies, { subjects }] = await Promise.all([
    senderDomains(companyId, results),
    copiesOfMails(companyId, results),
    // A killed node still receives calls until its silence is noticed; a retry reaches another one.
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
