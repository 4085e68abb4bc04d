/** Reads and writes a subscriber's preferences: names, subscription, and membership of public lists. */
import { type Client, type Queryable, query, queryOne, transaction } from "../../../models/database/db.ts";
import { retryOnConflict } from "../../../models/database/retry-on-conflict.ts";
import { SENT_EMAIL_STATUS } from "../../../models/sent-email-status.ts";
import { askToChangeAddress } from "../../../models/statements/change-address.ts";
import { withIds } from "../../../models/statements/mail-key.ts";
import { markResubscribed } from "../../../models/statements/unsubscribe.ts";
import { notFound } from "../../lib/errors.ts";
import { unsubscribePerson } from "./unsubscribe-person.ts";

export interface Preferences {
  email: string;
  first_name: string;
  last_name: string;
  subscribed: boolean;
  /** The company's public lists, joined or not. */
  lists: { id: string; name: string; description: string; subscribed: boolean }[];
}

/** Fields that are not given stay unchanged. */
export interface PreferencesChange {
  first_name?: string;
  last_name?: string;
  subscribed?: boolean;
  lists?: { id: string; subscribed: boolean }[];
  /** New address, applied once its mailbox confirms it; the confirmation is sent in this language. */
  newEmail?: string | undefined;
  acceptLanguage?: string;
}

export interface PersonRef {
  companyId: string;
  subscriberId: string;
}

/** Limit of lists on the page and in one change. */
const MAX_LISTS = 1_000;

// A person who unsubscribed, was deleted and imported again has an active status, but still gets nothing.
const PERSON = `
  select email, first_name, last_name, status = 'active' and not exists (
    select from suppressions x where x.company_id = $1 and x.email_key = s.email_key and x.kind = 'unsubscribed') as subscribed
  from subscribers s where company_id = $1 and id = $2`;

const LISTS = `
  select l.id, coalesce(nullif(l.public_name, ''), l.name) as name, l.public_description as description, m.list_id is not null and m.left_at is null as subscribed
  from lists l left join list_members m on m.company_id = l.company_id and m.list_id = l.id and m.subscriber_id = $2
  where l.company_id = $1 and l.visibility = 'public'
  order by lower(coalesce(nullif(l.public_name, ''), l.name)), l.id limit ${MAX_LISTS}`;

export async function preferencesOf({ companyId, subscriberId }: PersonRef, client?: Queryable): Promise<Preferences> {
  const values = [companyId, subscriberId];
  const person = await queryOne<Omit<Preferences, "lists">>(PERSON, values, client);
  if (!person) throw notFound();
  return { ...person, lists: await query<Preferences["lists"][number]>(LISTS, values, client) };
}

const RENAME = `
  update subscribers set first_name = coalesce($3, first_name), last_name = coalesce($4, last_name), updated_at = now()
  where company_id = $1 and id = $2
    and (first_name, last_name) is distinct from (coalesce($3, first_name), coalesce($4, last_name))`;

// Public lists only: the page must not change other memberships. Both rows are locked, because memberships have no
// foreign keys.
const CHOOSE = `
  with choice as (
    select l.id, c.subscribed from unnest($3::uuid[], $4::boolean[]) as c (list_id, subscribed)
    join lists l on l.company_id = $1 and l.id = c.list_id and l.visibility = 'public'
    order by l.id for key share of l),
  person as (select id from subscribers where company_id = $1 and id = $2 for key share),
  unwished as (
    delete from list_wishes w using choice c
    where w.company_id = $1 and w.subscriber_id = $2 and w.list_id = c.id),
  left_now as (
    update list_members m set left_at = now() from choice c
    where m.company_id = $1 and m.subscriber_id = $2 and m.list_id = c.id and not c.subscribed and m.left_at is null)
  insert into list_members as m (company_id, list_id, subscriber_id)
  select $1, c.id, p.id from choice c, person p where c.subscribed order by c.id
  on conflict (company_id, list_id, subscriber_id) do update set left_at = null where m.left_at is not null`;

// The webhook event needs a message: the last one sent, which contained the link.
const LAST_MAIL = `
  select e.campaign_no, e.seq, c.id as campaign_id
  from sent_emails e join campaigns c on c.no = e.campaign_no and c.company_id = $1
  where e.subscriber_id = $2 and e.status = ${SENT_EMAIL_STATUS.sent} order by e.campaign_no desc, e.seq desc limit 1`;

interface LastMail {
  id: string;
  campaign_no: number;
  seq: number;
  campaign_id: string;
}

async function apply(client: Client, person: PersonRef, change: PreferencesChange): Promise<string[]> {
  const { companyId, subscriberId } = person;
  const now = await preferencesOf(person, client);
  const { first_name, last_name, lists = [], newEmail, acceptLanguage = "" } = change;
  await client.query(RENAME, [companyId, subscriberId, first_name?.trim(), last_name?.trim()]);
  if (lists.length > 0) {
    const choices = new Map(lists.map(({ id, subscribed }) => [id.toLowerCase(), subscribed]));
    await client.query(CHOOSE, [companyId, subscriberId, [...choices.keys()], [...choices.values()]]);
  }
  if (newEmail !== undefined) {
    await askToChangeAddress(client, { companyId, subscriberId, email: newEmail, acceptLanguage });
  }
  if (change.subscribed === true && !now.subscribed) await markResubscribed(client, { companyId, email: now.email });
  if (change.subscribed !== false) return [];
  const mails = await query<LastMail>(LAST_MAIL, [companyId, subscriberId], client);
  const [mail] = await withIds(mails);
  const { id: sentEmailId = null, campaign_id: campaignId = null } = mail ?? {};
  return unsubscribePerson(client, { companyId, email: now.email, method: "preferences", sentEmailId, campaignId });
}

/** Returns the current preferences, and companies with new webhook deliveries. */
export async function changePreferences(person: PersonRef, change: PreferencesChange) {
  return retryOnConflict(() =>
    transaction(
      async (client) => {
        const companyIds = await apply(client, person, change);
        return { companyIds, preferences: await preferencesOf(person, client) };
      },
      { owner: person.companyId },
    ),
  );
}
