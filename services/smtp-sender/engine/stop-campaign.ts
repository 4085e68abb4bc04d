/** The stop signal: senders claim nothing of a campaign with an error; the campaigns service fails what is left of it. */
import { query } from "../../../models/database/db.ts";

export async function stopCampaign(companyId: string, campaignId: string, error: string): Promise<void> {
  await query(
    `update campaigns set error = $3, updated_at = now()
     where id = $2 and company_id = $1 and error is null and status in ('pending', 'sending')`,
    [companyId, campaignId, error],
  );
}
