/** Refuses requests for the people who opened or clicked a campaign that was sent without individual tracking. */

import { type Queryable, queryOne } from "../../models/database/db.ts";
import { badRequest } from "../lib/errors.ts";

const IS_KNOWN = "select individual_tracking as known from campaigns where company_id = $1 and id = $2";

/** Throws 400 if openers are not recorded for the campaign. */
export async function requireKnownOpeners(companyId: string, campaignId: string, client?: Queryable): Promise<void> {
  const campaign = await queryOne<{ known: boolean }>(IS_KNOWN, [companyId, campaignId], client);
  if (campaign?.known === false) {
    throw badRequest("This campaign was sent without individual tracking, so its openers are unknown.");
  }
}
