/** "Only this list": beside unsubscribing from all that a company sends, leaving the one list that a mail came through. */
import { type Client, query, queryOne } from "../../../models/database/db.ts";

interface Mail {
  company_id: string;
  campaign_id: string;
  email: string;
}

/** Found by the address, as an unsubscribe does: who was deleted and came back is another subscriber with the same mailbox. */
const LIST = `
  select coalesce(nullif(l.public_name, ''), l.name) as name
  from campaigns c
  join lists l on l.company_id = $1 and l.id = c.list_id and l.visibility = 'public'
  join subscribers s on s.company_id = $1 and s.email_key = address_key($3)
  join list_members m on m.company_id = $1 and m.list_id = l.id and m.subscriber_id = s.id and m.left_at is null
  where c.company_id = $1 and c.id = $2`;

/** How subscribers know the list; undefined where the mail came through no public list, or the person is not on it. */
export async function listToLeave({ company_id, campaign_id, email }: Mail): Promise<string | undefined> {
  return (await queryOne<{ name: string }>(LIST, [company_id, campaign_id, email]))?.name;
}

// It holds also where the list has become private since the page was shown; it is just not named then.
const CAME_THROUGH = `
  select c.list_id, coalesce(nullif(l.public_name, ''), l.name) as name
  from campaigns c left join lists l on l.company_id = $1 and l.id = c.list_id and l.visibility = 'public'
  where c.company_id = $1 and c.id = $2 and c.list_id is not null`;

const LEAVE = `
  update list_members m set left_at = now() from subscribers s
  where m.company_id = $1 and m.list_id = $2 and m.left_at is null
    and s.company_id = $1 and s.email_key = address_key($3) and m.subscriber_id = s.id`;

/** The second time changes nothing. Undefined where the mail came through no list; the name is null where it is not public. */
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
