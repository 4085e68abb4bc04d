/** Reads the archive of a list: campaigns sent to a public list whose archive is enabled. */
import { query, queryOne } from "../../../models/database/db.ts";

export interface ArchivedList {
  id: string;
  company_id: string;
  name: string;
  description: string;
}

// Readers know only the list's id.
const LIST = `
  select l.id, l.company_id, coalesce(nullif(l.public_name, ''), l.name) as name, l.public_description as description
  from lists l join companies c on c.id = l.company_id and c.deleted_at is null
  where l.id = $1 and l.visibility = 'public' and l.archive`;

/** Undefined if the list does not exist, is not public or has no archive. */
export const archivedList = (listId: string): Promise<ArchivedList | undefined> =>
  queryOne<ArchivedList>(LIST, [listId]);

export interface Issue {
  id: string;
  at: Date;
  /** Day in the company's time zone, as midnight in UTC. */
  day: Date;
}

// Reads in the order of the index campaigns_to_lists.
const ISSUES = `
  select c.id, coalesce(c.started_at, c.created_at) as at,
    date_trunc('day', local_time(coalesce(c.started_at, c.created_at), (select timezone from companies where id = $1))) at time zone 'UTC' as day
  from campaigns c
  where c.company_id = $1 and c.list_id = $2 and c.campaign_type = 'to_list' and c.resend_of is null
    and c.status in ('completed', 'partial') and not c.is_transactional and c.deleted_at is null`;

type Owned = Pick<ArchivedList, "id" | "company_id">;

/** Newest first. */
export const issuesOf = ({ id, company_id }: Owned, { limit, offset = 0 }: { limit: number; offset?: number }) =>
  query<Issue>(`${ISSUES} order by at desc, c.id desc limit $3 offset $4`, [company_id, id, limit, offset]);

export const hasIssue = async ({ id, company_id }: Owned, campaignId: string): Promise<boolean> =>
  (await queryOne(`${ISSUES} and c.id = $3`, [company_id, id, campaignId])) !== undefined;
