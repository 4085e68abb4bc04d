/**
 * Receivers of sends become subscribers after their mail is on its way, never before: that writes to the company's
 * subscribers, which an import may hold for a minute. Who is still to be saved is a row (unsaved_receivers), written in the
 * transaction that writes the recipient and deleted in the one that saves, so that a crash forgets nobody.
 */
import { type Client, prepared, query } from "../database/db.ts";
import { subscriberOf } from "../database/row-at.ts";

const nameField = (name: string) =>
  `case when jsonb_typeof(variables->'${name}') = 'string' then left(variables->>'${name}', 255) else '' end as ${name}`;

// The receivers' data is in the recipients' rows by now. Most receipts go to people who are known already: for them nothing
// is written.
const KEEP = `
  with gone as (
    delete from campaign_receivers where company_id = $1 and campaign_id = $2 and no <= coalesce($3, no)
    returning no, email, ${nameField("first_name")}, ${nameField("last_name")})
  insert into unsaved_receivers (company_id, campaign_id, no, email, first_name, last_name)
  select $1, $2, g.no, g.email, g.first_name, g.last_name
  from gone g left join lateral (${subscriberOf("$1", "address_key(g.email)", "r.id, r.first_name, r.last_name")}) s on true
  where g.email <> '' and (s.id is null or (s.first_name = '' and g.first_name <> '') or (s.last_name = '' and g.last_name <> ''))`;

/**
 * Ends the receivers' time in campaign_receivers, up to the number `upTo` where there is one: those who are no subscribers
 * yet wait to be saved. In a transaction that is `BY_KEY`.
 */
export const keepUnsaved = (client: Client, companyId: string, campaignId: string, upTo: number | null) =>
  prepared("keep unsaved", KEEP, [companyId, campaignId, upTo], client);

/** Finds a row where any waits. */
export const ANY_UNSAVED = "select from unsaved_receivers order by company_id";

/** Companies that have receivers to save. Skips from one to the next: each may have a hundred thousand. */
export const COMPANIES_TO_SAVE = `
  with recursive next (company_id) as (
    (select company_id from unsaved_receivers order by company_id limit 1)
    union all
    select (select u.company_id from unsaved_receivers u where u.company_id > n.company_id order by u.company_id limit 1)
    from next n where n.company_id is not null)
  select company_id from next where company_id is not null limit 200`;

export interface UnsavedRow {
  campaign_id: string;
  no: number;
  email: string;
  first_name: string;
  last_name: string;
}

/** The caller holds the company's lock for bulk writes, so nobody else takes them. */
export const takeUnsaved = (client: Client, companyId: string, limit: number): Promise<UnsavedRow[]> =>
  query<UnsavedRow>(
    `delete from unsaved_receivers where company_id = $1 and (campaign_id, no) in (
       select campaign_id, no from unsaved_receivers where company_id = $1 order by campaign_id, no limit $2)
     returning campaign_id, no, email, first_name, last_name`,
    [companyId, limit],
    client,
  );

export interface Receiver {
  email: string;
  first_name: string;
  last_name: string;
}

// `given` keeps the first of each address; new ones are inserted in order until the limit is reached.
const SAVE = `
  with given as (
    select distinct on (address_key(g.email)) g.email, address_key(g.email) as key, g.first_name, g.last_name, g.no
    from unnest($2::text[], $3::text[], $4::text[]) with ordinality g (email, first_name, last_name, no)
    order by address_key(g.email), g.no),
  fresh as (
    insert into subscribers (company_id, email, first_name, last_name)
    select $1, g.email, g.first_name, g.last_name from given g
    where not exists (select 1 from subscribers s where s.company_id = $1 and s.email_key = g.key)
    order by g.no limit $5
    on conflict (company_id, email_key) do nothing),
  filled as (
    update subscribers s set
      first_name = case when s.first_name = '' then g.first_name else s.first_name end,
      last_name = case when s.last_name = '' then g.last_name else s.last_name end,
      updated_at = now()
    from given g
    where s.company_id = $1 and s.email_key = g.key
      and ((s.first_name = '' and g.first_name <> '') or (s.last_name = '' and g.last_name <> '')))
  select 1`;

/** At most `room` new subscribers. */
export const insertReceivers = (client: Client, companyId: string, receivers: readonly Receiver[], room: number) =>
  query(
    SAVE,
    [
      companyId,
      receivers.map(({ email }) => email),
      receivers.map(({ first_name }) => first_name),
      receivers.map(({ last_name }) => last_name),
      Number.isFinite(room) ? room : null,
    ],
    client,
  );

// A receiver's recipient has a number no higher than its own, because who is left out gets none, and lower by as many at most as
// were left out. Without that bound each batch reads all before it that were not saved. Persons are one object, because a join is
// planned as for one mail: it compared each with each, 34 ms for 200. In the order of the key, as senders lock recipients.
const LINK = `
  with mail as materialized (
    select e.campaign_no, e.seq, address_key(e.email) as key
    from unnest($2::uuid[], $3::int[], $4::int[]) l (campaign_id, first, last)
    join campaigns c on c.id = l.campaign_id and c.company_id = $1
    join sent_emails e on e.campaign_no = c.no and e.seq between l.first - c.suppressed_count and l.last
    where e.subscriber_id is null),
  person as materialized (
    select jsonb_object_agg(g.key, s.id) as ids from (select distinct address_key(a) as key from unnest($5::text[]) a) g,
      lateral (${subscriberOf("$1", "g.key", "r.id")}) s),
  locked as materialized (
    select e.campaign_no, e.seq, (p.ids ->> m.key)::uuid as id
    from person p, mail m join sent_emails e on e.campaign_no = m.campaign_no and e.seq = m.seq
    where p.ids ? m.key
    order by e.campaign_no, e.seq for no key update of e)
  update sent_emails e set subscriber_id = l.id from locked l where e.campaign_no = l.campaign_no and e.seq = l.seq`;

/** Puts the subscriber's id into the mails that were written before there was one. */
export async function linkMails(client: Client, companyId: string, rows: readonly UnsavedRow[]): Promise<void> {
  const bounds = new Map<string, { first: number; last: number }>();
  for (const { campaign_id, no } of rows) {
    const { first, last } = bounds.get(campaign_id) ?? { first: no, last: no };
    bounds.set(campaign_id, { first: Math.min(no, first), last: Math.max(no, last) });
  }
  const firsts = Array.from(bounds.values(), ({ first }) => first);
  const lasts = Array.from(bounds.values(), ({ last }) => last);
  const emails = rows.map(({ email }) => email);
  await query(LINK, [companyId, [...bounds.keys()], firsts, lasts, emails], client);
}
