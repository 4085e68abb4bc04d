import { type Client, query } from "../../../models/database/db.ts";
import { asciiDomain, domainOf } from "../../lib/address.ts";

/**
 * Keeps a campaign's sender with its domain as it goes over the wire. Message-IDs are told by SQL from this column (in
 * webhooks, with each result), and must be those of the mails, whose headers have the domain in lower-case ASCII.
 */
export async function keepWireSender(client: Client, companyId: string, campaignId: string, given: string) {
  const domain = domainOf(given);
  const ascii = asciiDomain(domain);
  if (ascii === null || ascii === domain) return;
  await query(
    "update campaign_contents set sender_email = $3 where company_id = $1 and campaign_id = $2",
    [companyId, campaignId, `${given.slice(0, -domain.length)}${ascii}`],
    client,
  );
}
