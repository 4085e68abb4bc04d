/** "Only this list": leaves the list that a message was sent to, instead of unsubscribing from everything. */
import { type Client, query, queryOne } from "../../../models/database/db.ts";

interface Mail {
  company_id: string;
  campaign_id: string;
  email: string;
}

/**
 * Finds the member by address, as in an unsubscribe: a deleted person who returns is a new subscriber with the same
 * mailbox.
 */
const LIST = `
  select coalesce(nullif(l.public_name, ''), l.name) as name
  from campaigns c
  join lists l on l.company_id = $1 and l.id = c.list_id and l.visibility = 'public'
  join subscribers s on s.company_id = $1 and s.email_key = address_key($3)
  join list_members m on m.company_id = $1 and m.list_id = l.id and m.subscriber_id = s.id and m.left_at is null
  where c.company_id = $1 and c.id = $2`;

/** Public name of the list; undefined if the message was sent to no public list, or the person is not on it. */
export async function listToLeave({ company_id, campaign_id, email }: Mail): Promise<string | undefined> {
  return (await queryOne<{ name: string }>(LIST, [company_id, campaign_id, email]))?.name;
}

// Works even if the list has become private since the page was shown; its name is then hidden.
const CAME_THROUGH = `
  select c.list_id, coalesce(nullif(l.public_name, ''), l.name) as name
  from campaigns c left join lists l on l.company_id = $1 and l.id = c.list_id and l.visibility = 'public'
  where c.company_id = $1 and c.id = $2 and c.list_id is not null`;

const LEAVE = `
  update list_members m set left_at = now() from subscribers s
  where m.company_id = $1 and m.list_id = $2 and m.left_at is null
    and s.company_id = $1 and s.email_key = address_key($3) and m.subscriber_id = s.id`;

/** Idempotent. Undefined if the message was sent to no list; the name is null if the list is not public. */
export async function leaveList(
  client: Client,
  { company_id, campaign_id, email }: Mail,
): Promise<{ name: string | null } | undefined> {
  const list = await queryOne<{ list_id: string; name: string | null }>(
    CAME_THROUGH,
    [company_id, campaign_id],
    client,
  );
  if (!list) return undefined;
  await query(LEAVE, [company_id, list.list_id, email], client);
  return { name: list.name };
}
