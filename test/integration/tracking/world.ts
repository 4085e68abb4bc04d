/** Rows of a company, a campaign and its messages, as sending leaves them. */
import { query, queryOne } from "../../../models/database/db.ts";
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
  campaignNo: number;
  /** Ordered by number from 1. `messageId` is the part before the "@" of the Message-ID. */
  mails: { id: string; messageId: string; email: string; subscriberId: string }[];
}

/** Creates `mails` messages sent an hour ago, each to its own subscriber, in a new or a given company. */
export async function newWorld(mails = 1, company?: { id: string }): Promise<World> {
  const [companyId, campaignId] = [company?.id ?? newId(), newId()];
  await query(
    `insert into companies (id, name, plan, footer_text) values ($1, 'Ärger & Söhne', 'unlimited', $2)
     on conflict do nothing`,
    [companyId, "Main Street 1\nSpringfield"],
  );
  const campaign = await queryOne<{ no: number }>(
    `insert into campaigns (id, company_id, name, campaign_type, status, total_emails, sent_count, smtp_config_id,
       worker_task_id, next_seq, expansion_began_at, expanded_at, no)
     values ($1, $2, 'News', 'to_list', 'completed', $3, $3, $4, $4, $3 + 1, now(), now(), next_campaign_no()) returning no`,
    [campaignId, companyId, mails, newId()],
  );
  await query(
    `insert into campaign_contents (campaign_id, company_id, subject, body, sender_name, sender_email, list_id_name,
       list_id_ref, company_name, tracking_enabled, links)
     values ($1, $2, 'Hello [[first_name]]', '<p>Hi <a href="https://example.com/one">x</a></p>', 'Acme', 'news@acme.example', 'List', $3, 'Acme', true, $4)`,
    [campaignId, companyId, newId(), LINKS],
  );
  const people = Array.from({ length: mails }, (_, n) => ({
    subscriberId: newId(),
    email: `u${n}-${newId().slice(-6)}@example.com`,
  }));
  const subscriberIds = people.map(({ subscriberId }) => subscriberId);
  await query(
    `insert into subscribers (id, company_id, email, first_name)
     select id, $1, email, 'Ann' from unnest($2::uuid[], $3::text[]) as s (id, email)`,
    [companyId, subscriberIds, people.map(({ email }) => email)],
  );
  const numbers = await query<MailNumber>(
    `insert into sent_emails (campaign_no, seq, subscriber_id, status, attempts, sent_at)
     select $1, seq, id, 2, 1, now() - interval '1 hour' from unnest($2::uuid[]) with ordinality as s (id, seq)
     order by seq returning campaign_no, seq`,
    [campaign!.no, subscriberIds],
  );
  const codec = await mailIds();
  const ids = codec.of(numbers);
  const messageIds = codec.messageIds(ids);
  return {
    companyId,
    campaignId,
    campaignNo: campaign!.no,
    mails: people.map((one, n) => ({ ...one, id: ids[n]!, messageId: messageIds[n]! })),
  };
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
