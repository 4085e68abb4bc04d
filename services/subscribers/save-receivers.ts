/** Saves the receivers of a send as subscribers, as far as the plan allows. */
import { query, transaction } from "../../models/database/db.ts";
import { isAddress } from "../lib/address.ts";
import { toOneLine } from "../lib/one-line.ts";
import { type Limit, lockBulkWrites, roomFor } from "./company-locks.ts";

interface Receiver {
  email: string;
  first_name?: string;
  last_name?: string;
}

// `given` keeps the first of each address; new ones are inserted in order until the limit is reached.
const SAVE = `
  with given as (
    select distinct on (lower(g.email)) g.email, lower(g.email) as key, g.first_name, g.last_name, g.no
    from unnest($2::text[], $3::text[], $4::text[]) with ordinality g (email, first_name, last_name, no)
    order by lower(g.email), g.no),
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

const IDS = `
  select s.id from unnest($2::text[]) with ordinality g (email, no)
  left join subscribers s on s.company_id = $1 and s.email_key = lower(g.email)
  order by g.no`;

/** Mail waits for this: an import's merge may take longer, and receivers need not be subscribers to get theirs. */
const WAIT_FOR_IMPORT_MS = 500;

const MAX_NAME = 255;
const nameOf = (text = "") => toOneLine(text).slice(0, MAX_NAME).toWellFormed();

/** Ids in the order of the receivers; null for one beyond the limit or without a valid address. */
export async function saveReceivers(companyId: string, limit: Limit, receivers: Receiver[]) {
  const emails = receivers.map(({ email }) => email.trim());
  const valid = receivers.filter((_, index) => isAddress(emails[index]!));
  await transaction(async (client) => {
    await lockBulkWrites(client, companyId, WAIT_FOR_IMPORT_MS);
    const room = await roomFor(client, companyId, limit);
    await client.query(SAVE, [
      companyId,
      valid.map(({ email }) => email.trim()),
      valid.map(({ first_name }) => nameOf(first_name)),
      valid.map(({ last_name }) => nameOf(last_name)),
      Number.isFinite(room) ? room : null,
    ]);
  });
  return (await query<{ id: string | null }>(IDS, [companyId, emails])).map(({ id }) => id);
}
