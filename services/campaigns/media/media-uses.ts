/** Finds the templates and campaigns that use a file: their bodies contain its id, or a campaign attaches it. */
import { costlyRead } from "../../../models/database/bulk.ts";
import { query } from "../../../models/database/db.ts";

/** Maximum of each kind in a response. */
export const SHOWN_USES = 20;
/** Bodies are searched in full, so only the newest campaigns are. */
export const MAX_SEARCHED = 1_000;

interface Use {
  id: string;
  name: string;
}

interface UsesFound<U> {
  count: number;
  uses: U[];
}

// `strpos` needs no escaping of wildcards; file addresses contain the id in lower case.
const TEMPLATES = `
  select t.id, t.name, (count(*) over ())::int as count from templates t
  where t.company_id = $1 and (strpos(t.body, $2) > 0 or strpos(coalesce(t.html, ''), $2) > 0)
  order by t.id desc limit ${SHOWN_USES}`;

const CAMPAIGNS = `
  select c.id, c.name, c.status, (count(*) over ())::int as count
  from (select id, name, status from campaigns where company_id = $1 and not is_internal and deleted_at is null
        order by id desc limit ${MAX_SEARCHED}) c
  cross join lateral (select * from campaign_contents k where k.company_id = $1 and k.campaign_id = c.id offset 0) k
  where k.media_ids @> array[$2::uuid] or strpos(k.body, $2::text) > 0
    or exists (select from campaign_variants v
               where v.company_id = $1 and v.campaign_id = c.id and strpos(v.content::text, $2::text) > 0)
  order by c.id desc limit ${SHOWN_USES}`;

export function usesOfMedia<Status extends string>(
  companyId: string,
  mediaId: string,
): Promise<{ templates: UsesFound<Use>; campaigns: UsesFound<Use & { status: Status }> }> {
  return costlyRead(companyId, async (client) => {
    const findUses = async <U extends Use>(sql: string): Promise<UsesFound<U>> => {
      const rows = await query<U & { count: number }>(sql, [companyId, mediaId], client);
      return { count: rows[0]?.count ?? 0, uses: rows.map(({ count: _, ...use }) => use as unknown as U) };
    };
    return {
      templates: await findUses<Use>(TEMPLATES),
      campaigns: await findUses<Use & { status: Status }>(CAMPAIGNS),
    };
  });
}
