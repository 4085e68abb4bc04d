/**
 * Handles confirmations: whether a public request needs one from the mailbox, the queue of confirmation emails, and
 * their effects. Part of the models because subscribers writes what campaigns emails, and each step is one transaction.
 *
 * Whether a confirmation is required is set by the requested list, or else by the company (`double_opt_in`).
 *
 * | subscriber in the public form                    | without double opt-in                          | with it                            |
 * |--------------------------------------------------|------------------------------------------------|------------------------------------|
 * | new, or unconfirmed                              | active                                         | on the list; active once confirmed |
 * | active                                           | on the list                                    | on the list once confirmed         |
 * | unsubscribed, or with a suppression of that kind | stays so until confirmed, and the list with it | the same                           |
 * | bounced, complained, blocked by the company      | nothing                                        | nothing                            |
 *
 * Lists requested by an unconfirmed subscriber are provisional: a subscriber who becomes active through a list without
 * confirmation is removed from them until the other lists' link is used.
 *
 * Names and attributes submitted for a known person wait in `form_values`, in every row but the last, and fill in
 * blanks once a link of the latest mail is used: anybody can type any address into a form, and the typed text would
 * greet its owner. They require a confirmation by themselves. The last request's values count.
 *
 * A mailbox gets at most one email in 24 hours, including changes of address (change-address.ts). The limit ends upon
 * confirmation; the link confirms all requests.
 */

import { type Attributes, MAX_BYTES } from "../../services/lib/attributes.ts";
import { type Client, query, queryOne } from "../database/db.ts";
import { markResubscribed } from "./unsubscribe.ts";
import { outboxInsert, webhookNotice } from "./webhook-outbox.ts";

const ASK = `
  with person as (
    select s.id, s.email, s.email_key, s.status, blocked_by($1, s.email) as blocked,
      $3::uuid is not null and not exists (select from list_members m
        where m.company_id = $1 and m.list_id = $3 and m.subscriber_id = $2 and m.left_at is null) as wants_list,
      s.first_name = '' and $7::jsonb ->> 'first_name' <> '' or s.last_name = '' and $7::jsonb ->> 'last_name' <> ''
        or exists (select from jsonb_object_keys($7::jsonb -> 'attributes') k where not s.attributes ? k) as tells,
      (s.confirm_mailed_at is null or s.confirm_mailed_at < now() - interval '24 hours')
        and not exists (select from address_changes a where a.company_id = $1 and a.email_key = s.email_key
          and a.asked_at > now() - interval '24 hours') as mailable
    from subscribers s where s.company_id = $1 and s.id = $2),
  decided as (
    select id, email, email_key, status, wants_list, tells, mailable, case
      when status not in ('active', 'unconfirmed', 'unsubscribed') or blocked <> 'unsubscribed' then 'refused'
      when status = 'unsubscribed' or blocked is not null then 'confirm'
      when not $4::boolean then 'join'
      when status = 'unconfirmed' or wants_list then 'confirm'
      else 'nothing' end as answer
    from person),
  waiting as (select * from decided where answer = 'confirm' or (tells and answer <> 'refused')),
  changed as (
    update subscribers s set
      status = case when d.answer = 'join' then 'active' else s.status end,
      form_values = case when w.id is null then s.form_values else $7::jsonb end,
      confirm_mailed_at = case when w.mailable then now() else s.confirm_mailed_at end,
      updated_at = case when w.mailable or (d.answer = 'join' and d.status = 'unconfirmed') then now() else s.updated_at end
    from decided d left join waiting w on w.id = d.id
    where s.company_id = $1 and s.id = d.id and (w.id is not null or (d.answer = 'join' and d.status = 'unconfirmed'))),
  queued as (
    insert into unsent_confirmations (company_id, subscriber_id, asked_at, accept_language)
    select $1, id, now(), $5 from waiting where mailable
    on conflict (company_id, subscriber_id) do nothing),
  list as (select id from lists where company_id = $1 and id = $3 for key share),
  joined as (
    insert into list_members as m (company_id, list_id, subscriber_id)
    select $1, l.id, d.id from list l, decided d
    where d.answer = 'join' or (d.answer = 'confirm' and d.status = 'unconfirmed')
    on conflict (company_id, list_id, subscriber_id) do update set left_at = null where m.left_at is not null),
  unjoined as (
    delete from list_members m using decided d, list_wishes w
    where d.answer = 'join' and d.status = 'unconfirmed' and w.company_id = $1 and w.subscriber_id = d.id
      and m.company_id = $1 and m.list_id = w.list_id and m.subscriber_id = d.id and w.list_id is distinct from $3),
  event as (
    select uuid_v7() as id, $1::uuid as company_id, 'subscribed' as type, d.email as recipient, null::uuid as sent_email_id,
      null::uuid as campaign_id,
      json_build_object('subscriber_id', d.id, 'lists', array(select id from list)) as metadata, now() as created_at
    from decided d where d.answer = 'join' and ($6::boolean or d.status = 'unconfirmed' or d.wants_list)),
  notified as (${outboxInsert("event")})
  insert into list_wishes (company_id, subscriber_id, list_id)
  select $1, d.id, l.id from list l, decided d where d.answer = 'confirm'
  on conflict (company_id, subscriber_id, list_id) do update set asked_at = now()`;

interface Request {
  companyId: string;
  subscriberId: string;
  listId: string | null;
  doubleOptIn: boolean;
  acceptLanguage: string;
  /** True if the address was unknown before. */
  isNew: boolean;
  values: FormValues;
}

/** A person as a form describes them. */
export interface FormValues {
  first_name: string;
  last_name: string;
  attributes: Attributes;
}

/** Uses one statement in all cases, so that its timing does not reveal who exists; only its writes differ. */
export async function askToConfirm(client: Client, request: Request): Promise<void> {
  const { companyId, subscriberId, listId, doubleOptIn, acceptLanguage, isNew, values } = request;
  await query(ASK, [companyId, subscriberId, listId, doubleOptIn, acceptLanguage, isNew, values], client);
}

export interface UnsentConfirmationRow {
  company_id: string;
  subscriber_id: string;
  asked_at: Date;
  accept_language: string;
}

/**
 * Returns waiting confirmations, one per company before the second of any, so that a company whose form is flooded
 * delays only itself.
 */
export const unsentConfirmations = (limit: number): Promise<UnsentConfirmationRow[]> =>
  query<UnsentConfirmationRow>(
    `select * from unsent_confirmations
     order by row_number() over (partition by company_id order by asked_at), asked_at limit $1`,
    [limit],
  );

/** Locks a queued confirmation until the transaction ends; false if another node has locked it. */
export async function takeConfirmation(client: Client, row: UnsentConfirmationRow): Promise<boolean> {
  const taken = await query(
    `delete from unsent_confirmations where (company_id, subscriber_id) in (
       select company_id, subscriber_id from unsent_confirmations
       where company_id = $1 and subscriber_id = $2 for update skip locked)
     returning 1`,
    [row.company_id, row.subscriber_id],
    client,
  );
  return taken.length > 0;
}

/** Removes the mark of an email that was not sent, so that the next request need not wait for a day. */
export const forgetAsking = (client: Client, { company_id, subscriber_id }: UnsentConfirmationRow) =>
  query(
    "update subscribers set confirm_mailed_at = null where company_id = $1 and id = $2",
    [company_id, subscriber_id],
    client,
  );

/** Lifetime of a confirmation link. */
export const CONFIRM_WITHIN_DAYS = 7;
const DAY_SECONDS = 86_400;

/** Time in whole seconds, as in the token. */
export const confirmableUntil = (askedAt: Date): Date =>
  new Date((Math.floor(askedAt.getTime() / 1_000) + CONFIRM_WITHIN_DAYS * DAY_SECONDS) * 1_000);

interface Confirming {
  email: string;
  status: string;
  confirm_mailed_at: Date | null;
  is_unsubscribed: boolean;
  asked_since: boolean;
}

const CONFIRMING = `
  select s.email, s.status, s.confirm_mailed_at, s.status = 'unsubscribed' or x.id is not null as is_unsubscribed,
    s.confirm_mailed_at > coalesce(x.created_at, '-infinity') as asked_since
  from subscribers s
  left join suppressions x on x.company_id = $1 and x.email_key = s.email_key and x.kind = 'unsubscribed'
  where s.company_id = $1 and s.id = $2 for no key update of s`;

interface Link {
  companyId: string;
  subscriberId: string;
  expiresAt: Date | null;
}

// A requested membership expires with its email's link.
const WISHES = `
  with wished as (
    delete from list_wishes where company_id = $1 and subscriber_id = $2 returning list_id, asked_at)
  select list_id from wished where asked_at > now() - interval '${CONFIRM_WITHIN_DAYS} days'`;

/**
 * Applies a confirmation from the mailbox. "unknown": no such subscriber. "void": unsubscribed after the email, or the
 * address no longer accepts mail. `joins`: the lists that the person is on now.
 */
export async function confirmMailbox(
  client: Client,
  { companyId, subscriberId, expiresAt }: Link,
): Promise<"unknown" | "void" | { email: string; joins: string[] }> {
  const found = await queryOne<Confirming>(CONFIRMING, [companyId, subscriberId], client);
  if (!found) return "unknown";
  const { email, status, confirm_mailed_at: askedAt } = found;
  if (!["active", "unconfirmed", "unsubscribed"].includes(status)) return "void";
  const isLatest = askedAt !== null && confirmableUntil(askedAt).getTime() === expiresAt?.getTime();
  if (found.is_unsubscribed && !(isLatest && found.asked_since)) return "void";
  if (found.is_unsubscribed || status === "unconfirmed") await markResubscribed(client, { companyId, email });
  const wishes = await query<{ list_id: string }>(WISHES, [companyId, subscriberId], client);
  if (isLatest) await query(FILL_IN, [companyId, subscriberId], client);
  await query(CONFIRMED, [companyId, subscriberId], client);
  const joins = wishes.map(({ list_id }) => list_id);
  // Skipped if the link is used again.
  if (found.is_unsubscribed || status === "unconfirmed" || joins.length > 0) {
    const metadata = JSON.stringify({ subscriber_id: subscriberId, lists: joins });
    await query(webhookNotice(), [companyId, "confirmed", email, metadata], client);
  }
  return { email, joins };
}

// Ends the day's wait of the mailbox, also if a change of address had started it.
const CONFIRMED = `
  with free as (
    delete from address_changes a using subscribers s
    where s.company_id = $1 and s.id = $2 and a.company_id = $1 and a.email_key = s.email_key)
  update subscribers set confirm_mailed_at = null, form_values = null
  where company_id = $1 and id = $2 and confirm_mailed_at is not null`;

// Fills only empty fields.
const FILL_IN = `
  update subscribers set updated_at = now(),
    first_name = coalesce(nullif(first_name, ''), form_values ->> 'first_name'),
    last_name = coalesce(nullif(last_name, ''), form_values ->> 'last_name'),
    attributes = case when octet_length(((form_values -> 'attributes') || attributes)::text) > ${MAX_BYTES} then attributes
      else (form_values -> 'attributes') || attributes end
  where company_id = $1 and id = $2 and form_values is not null`;
