/** Reads the content of a campaign for its edit form. */
import { queryOne } from "../../../models/database/db.ts";
import type { ReturnsOf } from "../../contracts.ts";

type OwnText = ReturnsOf<"campaigns.ownText">;

const READ = `
  select k.body, k.preheader, k.design
  from campaigns c join campaign_contents k on k.company_id = c.company_id and k.campaign_id = c.id
  where c.company_id = $1 and c.id = $2 and c.template_id is null`;

/** Nulls for a campaign with a template, or none. */
export const ownText = async (companyId: string, id: string): Promise<OwnText> =>
  (await queryOne<OwnText>(READ, [companyId, id])) ?? { body: null, preheader: null, design: null };
