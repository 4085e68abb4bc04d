/** Reads the HTML of a campaign for its edit form. */
import { queryOne } from "../../../models/database/db.ts";

const READ = `
  select k.body from campaigns c join campaign_contents k on k.company_id = c.company_id and k.campaign_id = c.id
  where c.company_id = $1 and c.id = $2 and c.template_id is null`;

/** Null for a campaign with a template, or none. */
export const ownText = async (companyId: string, id: string): Promise<{ body: string | null }> =>
  (await queryOne<{ body: string }>(READ, [companyId, id])) ?? { body: null };
