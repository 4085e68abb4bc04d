/**
 * Saves the receivers of a send as subscribers, in the transaction that writes its recipients and before their mail is
 * sent, so that links, unsubscribes and bounces find the person.
 *
 * Mail never waits for it: if an import locks the company or one of its rows for longer than WAIT_MS, none of the slice
 * is saved, and nobody beyond the plan's limit is. All still get their mail. Erased people are never saved.
 */
import { isAddress } from "../../services/lib/address.ts";
import { toOneLine } from "../../services/lib/one-line.ts";
import { type Client, prepared, query, queryOne } from "../database/db.ts";
import { subscriberOf, suppressionAt } from "../database/row-at.ts";
import { localSettings, SESSION } from "../database/session-settings.ts";
import { erasedAmong } from "./erased-addresses.ts";
import { lockBulkWrites, roomFor } from "./subscriber-locks.ts";

const WAIT_MS = 500;
const MAX_NAME = 255;

interface Receiver {
  email: string;
  first_name: string;
  last_name: string;
}

const nameField = (name: string) =>
  `case when jsonb_typeof(r.variables->'${name}') = 'string' then left(r.variables->>'${name}', ${MAX_NAME}) else '' end as ${name}`;

// Most receipts go to people who are known already: for them nothing is written, and no lock taken.
const UNSAVED = `
  select g.email, g.first_name, g.last_name
  from (select r.no, r.email, ${nameField("first_name")}, ${nameField("last_name")}
    from campaign_receivers r
    where r.company_id = $1 and r.campaign_id = $2 and r.no > $3 order by r.no limit $4) g
  left join lateral (${subscriberOf("$1", "address_key(g.email)", "r.id, r.first_name, r.last_name")}) s on true
  where g.email <> '' and (s.id is null or (s.first_name = '' and g.first_name <> '') or (s.last_name = '' and g.last_name <> ''))
  order by g.no`;

// `given` keeps the first of each address; new ones are inserted in order until the limit is reached. An unsubscribe holds also
// for a person who is saved after it. A plain join by address would read all people of the company for each receiver where
// the table was never analysed (models/database/row-at.ts).
const SAVE = `
  with given as (
    select distinct on (address_key(g.email)) g.email, address_key(g.email) as key, g.first_name, g.last_name, g.no
    from unnest($2::text[], $3::text[], $4::text[]) with ordinality g (email, first_name, last_name, no)
    order by address_key(g.email), g.no),
  fresh as (
    insert into subscribers (company_id, email, first_name, last_name, status)
    select $1, g.email, g.first_name, g.last_name, case when x.kind = 'unsubscribed' then 'unsubscribed' else 'active' end
    from given g left join lateral (${suppressionAt("$1", "g.key", "r.kind")}) x on true
    left join lateral (${subscriberOf("$1", "g.key", "r.id")}) s on true
    where s.id is null
    order by g.no limit $5
    on conflict (company_id, email_key) do nothing),
  nameless as (
    select s.id, g.first_name, g.last_name
    from given g cross join lateral (${subscriberOf("$1", "g.key", "r.id, r.first_name, r.last_name")}) s
    where (s.first_name = '' and g.first_name <> '') or (s.last_name = '' and g.last_name <> '')),
  blank as (
    select s.id, n.first_name, n.last_name from nameless n join subscribers s on s.company_id = $1 and s.id = n.id
    order by s.id for no key update of s skip locked)
  update subscribers s set
    first_name = coalesce(nullif(s.first_name, ''), b.first_name),
    last_name = coalesce(nullif(s.last_name, ''), b.last_name),
    updated_at = now()
  from blank b where s.company_id = $1 and s.id = b.id`;

const PLAN_LIMIT = "select p.subscribers from companies c join plans p on p.name = c.plan where c.id = $1";

async function save(client: Client, companyId: string, receivers: readonly Receiver[]): Promise<void> {
  await lockBulkWrites(client, companyId);
  const plan = await queryOne<{ subscribers: number | null }>(PLAN_LIMIT, [companyId], client);
  const room = await roomFor(client, companyId, plan?.subscribers ?? null);
  const column = (name: keyof Receiver) => receivers.map((receiver) => receiver[name]);
  const names = (name: "first_name" | "last_name") => column(name).map((text) => toOneLine(text).toWellFormed());
  const limit = Number.isFinite(room) ? room : null;
  await query(SAVE, [companyId, column("email"), names("first_name"), names("last_name"), limit], client);
}

/** The company's lock was not free in time (lock_not_available). */
const isLocked = (error: unknown) => (error as { code?: unknown }).code === "55P03";

interface Range {
  companyId: string;
  campaignId: string;
  /** The number behind which the slice begins. */
  after: number;
  limit: number;
}

/** Call after the lock on the company's addresses was taken: an erasure then comes before or after the whole transaction. */
export async function saveReceivers(client: Client, { companyId, campaignId, after, limit }: Range): Promise<void> {
  const unsaved = await prepared<Receiver>("unsaved receivers", UNSAVED, [companyId, campaignId, after, limit], client);
  const emails = unsaved.map(({ email }) => email);
  const erased = await erasedAmong(companyId, emails, client);
  const receivers = unsaved.filter(({ email }) => !erased.has(email) && isAddress(email));
  if (receivers.length === 0) return;
  await client.query(`savepoint saved; ${localSettings({ lock_timeout: WAIT_MS })}`);
  try {
    await save(client, companyId, receivers);
    await client.query(`release saved; ${localSettings({ lock_timeout: SESSION.lock_timeout! })}`);
  } catch (error) {
    if (!isLocked(error)) throw error;
    await client.query("rollback to saved; release saved");
  }
}
