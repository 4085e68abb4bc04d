/** Creates single subscribers. */

import { type Client, INTERACTIVE, pool, type Queryable, queryOne, transaction } from "../../models/database/db.ts";
import { ERASED_ERROR, erasedAmong } from "../../models/statements/erased-addresses.ts";
import { type Limit, roomFor } from "../../models/statements/subscriber-locks.ts";
import { addressText } from "../lib/address.ts";
import { type Attributes, attributesError } from "../lib/attributes.ts";
import { invalid, subscriberLimitReached } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { addToLists } from "./members.ts";
import { COLUMNS, getSubscriber, type SubscriberRow, type SubscriberView, subscriberView } from "./subscriber.ts";

export interface GivenSubscriber {
  email: string;
  first_name?: string;
  last_name?: string;
  attributes?: Attributes;
  lists?: string[];
}

// An existing address is not an error: its row is returned with the given values filled in.
const UPSERT = `
  insert into subscribers as s (id, company_id, email, first_name, last_name, attributes)
  values ($2, $1, $3, $4, $5, $6)
  on conflict (company_id, email_key) do update set
    first_name = coalesce(nullif(excluded.first_name, ''), s.first_name),
    last_name = coalesce(nullif(excluded.last_name, ''), s.last_name),
    attributes = s.attributes || excluded.attributes,
    updated_at = now()
  returning ${COLUMNS}`;

async function upsert(client: Queryable, companyId: string, given: GivenSubscriber): Promise<SubscriberView> {
  const { email, first_name = "", last_name = "", attributes = {} } = given;
  const values = [companyId, newId(), addressText(email), first_name.trim(), last_name.trim(), attributes];
  const { rows } = await client.query({ name: "subscriber-upsert", text: UPSERT, values });
  return subscriberView(rows[0] as SubscriberRow);
}

export function requireWithinLimits({ attributes }: { attributes: Attributes }): void {
  const error = attributesError(attributes);
  if (error) throw invalid({ attributes: [error] });
}

export async function withLists(client: Client, companyId: string, saved: SubscriberView, lists: string[] = []) {
  if (lists.length === 0) return saved;
  await addToLists(client, companyId, [saved.id], lists);
  return getSubscriber(companyId, saved.id, client);
}

const KNOWN = "select from subscribers where company_id = $1 and email_key = address_key($2)";

/** Throws 400 for an erased person or too many attributes, 403 beyond the plan. */
export async function createSubscriber(companyId: string, limit: Limit, given: GivenSubscriber) {
  if ((await erasedAmong(companyId, [given.email])).size > 0) throw invalid({ email: [ERASED_ERROR] });
  if (limit === null && !given.attributes && !given.lists?.length) return upsert(pool(), companyId, given);
  return transaction(async (client) => {
    const room = await roomFor(client, companyId, limit);
    if (room === 0 && !(await queryOne(KNOWN, [companyId, addressText(given.email)], client))) {
      throw subscriberLimitReached(limit!);
    }
    const saved = await upsert(client, companyId, given);
    requireWithinLimits(saved);
    return withLists(client, companyId, saved, given.lists);
  }, INTERACTIVE);
}
