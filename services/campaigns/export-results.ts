/** A campaign's results as CSV, one line per recipient, read in keyset pages: memory does not grow with the campaign. */
import { Readable } from "node:stream";
import { exportRead } from "../../models/database/bulk.ts";
import { campaignNo } from "../../models/database/campaign-no.ts";
import { query } from "../../models/database/db.ts";
import { SENT_EMAIL_STATUS } from "../../models/sent-email-status.ts";
import { audit } from "../../models/statements/audit-log.ts";
import { type Ctx, companyOf } from "../lib/caller.ts";
import { csvRow } from "../lib/csv.ts";
import { getCampaign } from "./list-campaigns.ts";

const PAGE = 2_000;
const COLUMNS = ["email", "status", "error", "sent_at", "opened_at", "clicked_at", "opens", "clicks"];

const STATUS_NAMES = new Map<number, string>(Object.entries(SENT_EMAIL_STATUS).map(([name, number]) => [number, name]));

interface Result {
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

const ROWS = `
  select e.seq, coalesce(e.email, s.email) as email, e.status, e.error, e.sent_at, e.opened_at, e.clicked_at,
    coalesce(e.opens, 0) as opens, coalesce(e.clicks, 0) as clicks
  from sent_emails e left join subscribers s on s.company_id = $1 and s.id = e.subscriber_id
  where e.campaign_no = ${campaignNo("$2", "$1")} and e.seq > $3::integer order by e.seq limit ${PAGE}`;

async function* results(companyId: string, campaignId: string) {
  yield csvRow(COLUMNS);
  // Those who were left out have negative numbers.
  for (let after = -(2 ** 31); ; ) {
    const page = await exportRead(companyId, (client) => query<Result>(ROWS, [companyId, campaignId, after], client));
    yield page
      .map((r) =>
        csvRow([r.email, STATUS_NAMES.get(r.status), r.error, r.sent_at, r.opened_at, r.clicked_at, r.opens, r.clicks]),
      )
      .join("");
    if (page.length < PAGE) return;
    after = page.at(-1)!.seq;
  }
}

export async function exportResults(ctx: Ctx<{ id: string }>): Promise<NodeJS.ReadableStream> {
  await getCampaign(ctx);
  await audit(companyOf(ctx), ctx.meta, { action: "campaign.exported", target: ctx.params.id });
  return Readable.from(results(companyOf(ctx), ctx.params.id), { objectMode: false });
}
