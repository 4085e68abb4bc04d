/** Stores opens and clicks of a sent campaign in batches like gateways do, by the service's own statements. */
import { query } from "../../models/database/db.ts";
import { withIds } from "../../models/statements/mail-key.ts";
import { newId } from "../../services/lib/ids.ts";
import { seal } from "../../services/lib/secrets.ts";
import { CampaignLinks } from "../../services/tracking/hits/campaign-links.ts";
import type { Hit } from "../../services/tracking/hits/classify-hits.ts";
import { storeHits } from "../../services/tracking/hits/store-hits.ts";

const GROUP = 200;
/** Hits within the second of sending count as machines. */
const LATER_MS = 3_600_000;
/** Hits are spread over days and in another order than the mails, so that index writes are spread, too. */
const BETWEEN_MS = 6_000;
/** A prime, so that every mail is visited. */
const STRIDE = 7_919;
const AGENT =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148";
const LINK = "https://www.lantern.example/books/evenings?shelf=12";

interface Mail {
  id: string;
  campaign_no: number;
  seq: number;
}

/** Links of the mails; 0 is the pixel, 1 the link. */
export async function addLinks(company: string, campaign: string): Promise<void> {
  await query(
    `insert into campaign_contents (campaign_id, company_id, subject, body, sender_name, sender_email, list_id_name,
       list_id_ref, company_name, tracking_enabled, links)
     values ($1, $2, 'Hello', '<p>Hi</p>', 'Acme', 'news@acme.example', 'All', $1, 'Acme', true, $3)`,
    [campaign, company, [LINK]],
  );
}

/** Creates an endpoint, so that each open also creates a webhook delivery. */
export async function addWebhook(company: string): Promise<void> {
  const id = newId();
  await query(
    `insert into webhook_endpoints (id, company_id, url, events, secret_sealed)
     values ($1, $2, 'https://hooks.lantern.example/', '{opened}', $3)`,
    [id, company, seal("whsec_AAAA", id)],
  );
}

const MAILS = `select s.campaign_no, s.seq from campaigns c join sent_emails s on s.campaign_no = c.no
  where c.id = $1 and s.seq = any ($2)`;

const began = Date.now();

/** Stores one hit per mail, in batches of a busy node's size. */
export async function hitEach(campaign: string, mails: number, link: number): Promise<void> {
  const links = new CampaignLinks();
  for (let from = 0; from < mails; from += GROUP) {
    const turns = Array.from({ length: Math.min(GROUP, mails - from) }, (_, n) => from + n);
    const turnOf = new Map(turns.map((turn) => [((turn * STRIDE) % mails) + 1, turn]));
    const rows = await withIds(await query<Mail & { message_id?: string }>(MAILS, [campaign, [...turnOf.keys()]]));
    const hits = rows.map(
      ({ id, seq }): Hit => ({
        sentEmailId: id,
        link,
        at: new Date(began + LATER_MS + turnOf.get(seq)! * BETWEEN_MS),
        userAgent: AGENT,
        ip: `198.51.${(seq >> 8) & 255}.${seq & 255}`,
      }),
    );
    await storeHits(hits, links);
  }
}
