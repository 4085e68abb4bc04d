/** Rows of a company, a campaign and its mails, as sending leaves them. */
import { query } from "../../../models/database/db.ts";
import { mailIds } from "../../../models/statements/mail-key.ts";
import type { Caller } from "../../../services/lib/caller.ts";
import { newId } from "../../../services/lib/ids.ts";
import { keysFor } from "../../../services/lib/secrets.ts";
import { LinkTokens } from "../../../services/lib/tokens/link-token.ts";
import type { MailNumber } from "../../../services/lib/tokens/mail-id.ts";

export const LINKS = ["https://example.com/one", "https://example.com/zwei?ä=1&b=2", "https://example.com/three"];

export interface World {
  companyId: string;
  campaignId: string;
  mails: { id: string; email: string; subscriberId: string }[];
}

/** Compact: the mails' rows are, and hits of them are rows of `hits`. */
export type Form = "full" | "compact";

/** `mails` mails, sent an hour ago, each to a subscriber of its own; of a company of their own, or of one that is there. */
export async function newWorld(mails = 1, company?: { id: string }, form: Form = "full"): Promise<World> {
  const [companyId, campaignId] = [company?.id ?? newId(), newId()];
  await query(
    `insert into companies (id, name, plan, footer_text) values ($1, 'Ärger & Söhne', 'unlimited', $2)
     on conflict do nothing`,
    [companyId, "Main Street 1\nSpringfield"],
  );
  await query(
    `insert into campaigns (id, company_id, name, campaign_type, status, total_emails, sent_count, smtp_config_id,
       worker_task_id, next_seq, expanded_at, no)
     values ($1, $2, 'News', 'to_list', 'completed', $3, $3, $4, $4, $3 + 1, now(),
       case when $5 then next_campaign_no() else nextval('full_campaign_no') end)`,
    [campaignId, companyId, mails, newId(), form === "compact"],
  );
  await query(
    `insert into campaign_contents (campaign_id, company_id, subject, body, sender_name, sender_email, list_id_name,
       list_id_ref, company_name, tracking_enabled, links)
     values ($1, $2, 'Hello [[first_name]]', '<p>Hi <a href="https://example.com/one">x</a></p>', 'Acme', 'news@acme.example', 'List', $3, 'Acme', true, $4)`,
    [campaignId, companyId, newId(), LINKS],
  );
  // Ids of one millisecond are in no order of their own.
  const ids = Array.from({ length: mails }, newId).toSorted();
  const rows = ids.map((id, n) => ({
    id,
    subscriberId: newId(),
    email: `u${n}-${newId().slice(-6)}@example.com`,
  }));
  await query(
    `insert into subscribers (id, company_id, email, first_name)
     select id, $1, email, 'Ann' from unnest($2::uuid[], $3::text[]) as s (id, email)`,
    [companyId, rows.map((row) => row.subscriberId), rows.map((row) => row.email)],
  );
  if (form === "compact") return { companyId, campaignId, mails: await writeCompactly(campaignId, rows) };
  await query(
    `insert into sent_emails (id, company_id, campaign_id, seq, subscriber_id, email, status, attempts, sent_at)
     select id, $1, $2, seq, subscriber_id, email, 2, 1, now() - interval '1 hour'
     from unnest($3::uuid[], $4::uuid[], $5::text[]) with ordinality as m (id, subscriber_id, email, seq)`,
    [companyId, campaignId, rows.map((r) => r.id), rows.map((r) => r.subscriberId), rows.map((r) => r.email)],
  );
  return { companyId, campaignId, mails: rows };
}

async function writeCompactly(campaignId: string, rows: World["mails"]): Promise<World["mails"]> {
  const numbers = await query<MailNumber>(
    `insert into sent_emails (campaign_no, seq, subscriber_id, email, status, attempts, sent_at, id, opens, clicks, created_at)
     select c.no, m.seq, m.subscriber_id, null, 2, 1, now() - interval '1 hour', null, null, null, null
     from campaigns c, unnest($2::uuid[]) with ordinality as m (subscriber_id, seq) where c.id = $1
     order by m.seq returning campaign_no, seq`,
    [campaignId, rows.map(({ subscriberId }) => subscriberId)],
  );
  const ids = (await mailIds()).of(numbers);
  return rows.map((row, n) => ({ ...row, id: ids[n]! }));
}

export const token = (mailId: string, link: number) => new LinkTokens(keysFor("link")[0]!, mailId).text(link);

export const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0";

export const http = (given: Partial<NonNullable<Caller["http"]>> = {}): Caller => ({
  http: {
    method: "GET",
    ip: "192.0.2.7",
    userAgent: FIREFOX,
    accept: "text/html",
    acceptLanguage: "",
    contentType: "",
    ...given,
  },
});
