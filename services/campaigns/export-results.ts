/** Exports a campaign's results as CSV, one line per recipient. Keyset pages keep memory constant. */
import { exportRead } from "../../models/database/bulk.ts";
import { campaignNo } from "../../models/database/campaign-no.ts";
import { query } from "../../models/database/db.ts";
import { subscriberAt } from "../../models/database/row-at.ts";
import { SENT_EMAIL_STATUSES } from "../../models/sent-email-status.ts";
import { audit } from "../../models/statements/audit-log.ts";
import { type Ctx, companyOf } from "../lib/caller.ts";
import { csvRow } from "../lib/csv.ts";
import { csvPage } from "../lib/download.ts";
import type { DownloadPage } from "../lib/shapes.ts";
import { getCampaign } from "./list-campaigns.ts";

const PAGE = 2_000;
/** Skipped recipients have negative numbers. */
const BEFORE_ALL = String(-(2 ** 31));
const COLUMNS = ["email", "status", "error", "sent_at", "opened_at", "clicked_at", "opens", "clicks"];

const ROWS = `
  select e.seq, coalesce(e.email, s.email) as email, e.status, e.error, e.sent_at, e.opened_at, e.clicked_at,
    coalesce(e.opens, 0) as opens, coalesce(e.clicks, 0) as clicks
  from sent_emails e left join lateral (${subscriberAt("$1", "e.subscriber_id", "r.email")}) s on true
  where e.campaign_no = ${campaignNo("$2", "$1")} and e.seq > $3::integer order by e.seq limit ${PAGE}`;

interface Row {
  seq: number;
  email: string;
  status: number;
  error: string | null;
  sent_at: Date | null;
  opened_at: Date | null;
  clicked_at: Date | null;
  opens: number;
  clicks: number;
}

const line = ({ email, status, error, sent_at, opened_at, clicked_at, opens, clicks }: Row) =>
  csvRow([email, SENT_EMAIL_STATUSES[status], error, sent_at, opened_at, clicked_at, opens, clicks]);

export async function exportResults(ctx: Ctx<{ id: string }>, after?: string): Promise<DownloadPage> {
  const [companyId, campaignId] = [companyOf(ctx), ctx.params.id];
  if (after === undefined) {
    await getCampaign(ctx);
    await audit(companyId, ctx.meta, { action: "campaign.exported", target: campaignId });
  }
  const values = [companyId, campaignId, after ?? BEFORE_ALL];
  const rows = await exportRead(companyId, (client) => query<Row>(ROWS, values, client));
  const { body, next } = csvPage(rows, PAGE, line, ({ seq }) => String(seq));
  return { body: (after === undefined ? csvRow(COLUMNS) : "") + body, next };
}
