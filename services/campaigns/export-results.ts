/** A campaign's results as CSV, one line per recipient, read in keyset pages: memory does not grow with the campaign. */
import { exportRead } from "../../models/database/bulk.ts";
import { campaignNo } from "../../models/database/campaign-no.ts";
import { subscriberAt } from "../../models/database/row-at.ts";
import { isoTime, type TextRow, textRows } from "../../models/database/text-rows.ts";
import { SENT_EMAIL_STATUS } from "../../models/sent-email-status.ts";
import { audit } from "../../models/statements/audit-log.ts";
import { type Ctx, companyOf } from "../lib/caller.ts";
import { csvRow } from "../lib/csv.ts";
import { csvPages, csvStream } from "../lib/csv-export.ts";
import { getCampaign } from "./list-campaigns.ts";

const PAGE = 2_000;
/** Those who were left out have negative numbers. */
const BEFORE_ALL = String(-(2 ** 31));
const COLUMNS = ["email", "status", "error", "sent_at", "opened_at", "clicked_at", "opens", "clicks"];

/** By their numbers as text. */
const STATUS_NAMES = new Map(Object.entries(SENT_EMAIL_STATUS).map(([name, number]) => [String(number), name]));

const rowsSql = (size: number) => `
  select e.seq, coalesce(e.email, s.email) as email, e.status, e.error, e.sent_at, e.opened_at, e.clicked_at,
    coalesce(e.opens, 0) as opens, coalesce(e.clicks, 0) as clicks
  from sent_emails e left join lateral (${subscriberAt("$1", "e.subscriber_id", "r.email")}) s on true
  where e.campaign_no = ${campaignNo("$2", "$1")} and e.seq > $3::integer order by e.seq limit ${size}`;

const time = (text: string | null | undefined) => (text ? isoTime(text) : null);

const line = ([, email, status, error, sentAt, openedAt, clickedAt, opens, clicks]: TextRow) =>
  csvRow([email, STATUS_NAMES.get(status!), error, time(sentAt), time(openedAt), time(clickedAt), opens, clicks]);

async function* results(companyId: string, campaignId: string): AsyncGenerator<string> {
  yield csvRow(COLUMNS);
  const read = (after: string, size: number) =>
    exportRead(companyId, (client) => textRows(rowsSql(size), [companyId, campaignId, after], client));
  yield* csvPages({ companyId, size: PAGE, first: BEFORE_ALL, read, line });
}

export async function exportResults(ctx: Ctx<{ id: string }>): Promise<NodeJS.ReadableStream> {
  await getCampaign(ctx);
  await audit(companyOf(ctx), ctx.meta, { action: "campaign.exported", target: ctx.params.id });
  return csvStream(results(companyOf(ctx), ctx.params.id));
}
