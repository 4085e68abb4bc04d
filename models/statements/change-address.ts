/**
 * Changes a subscriber's address: requested on the preferences page, mailed to the new mailbox, and applied by its
 * confirmation. Anybody with a preferences link can request any address, so the request changes nothing, and its
 * response reveals nothing.
 *
 * | data                                                 | effect                                                       |
 * |------------------------------------------------------|--------------------------------------------------------------|
 * | id, names, attributes, lists, sent emails            | stay; emails keep the address they were sent to              |
 * | suppressions of the old address                      | stay                                                         |
 * | unsubscribed subscriber                              | stays unsubscribed: the new address is suppressed, too       |
 * | active subscriber whose new mailbox had unsubscribed | the suppression is lifted: its owner requests the email      |
 * | bounced subscriber                                   | becomes active: the old mailbox bounced                      |
 * | subscriber who complained or was blocked             | keeps the address: a change does not circumvent a block      |
 * | a new address that bounced, complained or is blocked | is refused, and nothing is mailed to it                      |
 * | a new address that is another subscriber's           | the same                                                     |
 * | the address of an erased person                      | belongs to the person again, who confirmed from that mailbox |
 */
import { newId } from "../../services/lib/ids.ts";
import { type Client, query, queryOne } from "../database/db.ts";
import { CONFIRM_WITHIN_DAYS } from "./ask-to-confirm.ts";
import { liftErasure } from "./erased-addresses.ts";

/** Mailboxes that one subscriber may have mailed within 24 hours. */
const MAX_CHANGES_A_DAY = 3;

/** SQL conditions; `p`: the subscriber; `w`: the requested address. */
const MAY_CHANGE = `w.email_key <> p.email_key
    and p.status in ('active', 'unconfirmed', 'unsubscribed', 'bounced')
    and coalesce(blocked_by($1, p.email), 'unsubscribed') in ('unsubscribed', 'bounced')
    and coalesce(blocked_by($1, w.email), 'unsubscribed') = 'unsubscribed'
    and not exists (select from subscribers t where t.company_id = $1 and t.email_key = w.email_key)`;

const ASK = `
  insert into address_changes as a (company_id, subscriber_id, id, email, email_key, accept_language)
  select $1, p.id, $3, w.email, w.email_key, $5
  from subscribers p, (select $4::text as email, address_key($4) as email_key) w
  where p.company_id = $1 and p.id = $2 and ${MAY_CHANGE}
    and (select count(*) from address_changes c
      where c.company_id = $1 and c.subscriber_id = $2 and c.asked_at > now() - interval '24 hours') < ${MAX_CHANGES_A_DAY}
  on conflict (company_id, email_key) do update set subscriber_id = excluded.subscriber_id, id = excluded.id,
    email = excluded.email, asked_at = now(), accept_language = excluded.accept_language, is_unsent = true
  where a.asked_at < now() - interval '24 hours'`;

interface Wanted {
  companyId: string;
  subscriberId: string;
  email: string;
  acceptLanguage: string;
}

/** Uses one statement in all cases, so that its timing reveals nothing; only its writes differ. */
export async function askToChangeAddress(client: Client, wanted: Wanted): Promise<void> {
  const { companyId, subscriberId, email, acceptLanguage } = wanted;
  await query(ASK, [companyId, subscriberId, newId(), email, acceptLanguage], client);
}

export interface UnsentChangeRow {
  company_id: string;
  subscriber_id: string;
  id: string;
  email: string;
  email_key: string;
  asked_at: Date;
  accept_language: string;
}

// Takes one per company before the second of any.
const UNSENT = `
  select company_id, subscriber_id, id, email, email_key, asked_at, accept_language from address_changes
  where is_unsent and id is not null
  order by row_number() over (partition by company_id order by asked_at), asked_at limit $1`;

export const unsentChanges = (limit: number): Promise<UnsentChangeRow[]> => query<UnsentChangeRow>(UNSENT, [limit]);

const TAKE = `
  update address_changes set is_unsent = false where (company_id, email_key) in (
    select company_id, email_key from address_changes
    where company_id = $1 and email_key = $2 and id = $3 and is_unsent for update skip locked)
  returning 1`;

/** Locks a queued email until the transaction ends; false if another node has locked it. */
export const takeChange = async (client: Client, row: UnsentChangeRow): Promise<boolean> =>
  (await query(TAKE, [row.company_id, row.email_key, row.id], client)).length > 0;

/** Removes the mark of an email that was not sent, so that the next request need not wait for a day. */
export const forgetChange = (client: Client, { company_id, email_key, id }: UnsentChangeRow) =>
  query(
    "delete from address_changes where company_id = $1 and email_key = $2 and id = $3",
    [company_id, email_key, id],
    client,
  );

export interface ChangeLink {
  companyId: string;
  subscriberId: string;
  changeId: string;
}

const OPEN = `select email, email_key from address_changes
  where company_id = $1 and subscriber_id = $2 and id = $3 and asked_at > now() - interval '${CONFIRM_WITHIN_DAYS} days'`;

/** Returns the address of a link; undefined if the link was used or has expired. */
export const openChange = ({ companyId, subscriberId, changeId }: ChangeLink) =>
  queryOne<{ email: string }>(OPEN, [companyId, subscriberId, changeId]);

const HOLD = "select from subscribers where company_id = $1 and id = $2 for update";

const CHANGE = `
  with former as (
    select p.id, p.email, p.email_key, p.status, exists (select from suppressions x
      where x.company_id = $1 and x.email_key = p.email_key and x.kind = 'unsubscribed') as is_suppressed
    from subscribers p, (select $3::text as email, $4::text as email_key) w
    where p.company_id = $1 and p.id = $2 and ${MAY_CHANGE}),
  kept as (
    insert into former_addresses (company_id, subscriber_id, email_key, email)
    select $1, id, email_key, email from former
    on conflict (company_id, subscriber_id, email_key) do update set email = excluded.email, changed_at = now()),
  changed as (
    update subscribers s set email = $3, confirm_mailed_at = null, soft_bounces = 0, updated_at = now(),
      status = case when s.status = 'bounced' then 'active' else s.status end
    from former f where s.company_id = $1 and s.id = f.id),
  suppressed as (
    insert into suppressions (company_id, email, kind, reason)
    select $1, $3, 'unsubscribed', 'Had unsubscribed before the change to this address.' from former
    where status = 'unsubscribed' or is_suppressed
    on conflict (company_id, email_key) where email_key is not null do nothing),
  lifted as (
    delete from suppressions x using former f
    where x.company_id = $1 and x.email_key = $4 and x.kind = 'unsubscribed'
      and f.status in ('active', 'bounced') and not f.is_suppressed),
  -- Who comes back to an address that was theirs.
  current as (delete from former_addresses where company_id = $1 and subscriber_id = $2 and email_key = $4)
  select email from former`;

// Keeps the rows, so that another email to one of these mailboxes waits for a day.
const VOID = "update address_changes set id = null where company_id = $1 and subscriber_id = $2";
const DONE = "delete from address_changes where company_id = $1 and email_key = $2";

/**
 * Applies a change once and returns the new address; undefined if the link is no longer valid or the address may no
 * longer be used.
 */
export async function changeAddress(client: Client, link: ChangeLink): Promise<string | undefined> {
  const { companyId, subscriberId, changeId } = link;
  await query(HOLD, [companyId, subscriberId], client);
  const wanted = await queryOne<{ email: string; email_key: string }>(
    OPEN,
    [companyId, subscriberId, changeId],
    client,
  );
  if (!wanted) return undefined;
  const { email, email_key } = wanted;
  if (!(await queryOne(CHANGE, [companyId, subscriberId, email, email_key], client))) return undefined;
  await query(DONE, [companyId, email_key], client);
  await query(VOID, [companyId, subscriberId], client);
  await liftErasure(client, companyId, email);
  return email;
}

const OLD = `delete from address_changes where asked_at < now() - interval '${CONFIRM_WITHIN_DAYS} days'`;

/** Deletes expired changes and returns their number. */
export async function forgetOldChanges(): Promise<number> {
  return (await query(`${OLD} returning 1`)).length;
}

const FORMER = `
  select f.email from subscribers s
  join former_addresses f on f.company_id = $1 and f.subscriber_id = s.id
  where s.company_id = $1 and s.email_key = address_key($2)
    and not exists (select from subscribers t where t.company_id = $1 and t.email_key = f.email_key)`;

/** Returns earlier addresses of this subscriber that no other subscriber has now. */
export const formerAddresses = async (companyId: string, email: string): Promise<string[]> =>
  (await query<{ email: string }>(FORMER, [companyId, email])).map((row) => row.email);
