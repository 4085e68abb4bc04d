/** Creates, changes and removes one subscriber. */
import { type Client, INTERACTIVE, pool, type Queryable, queryOne, transaction } from "../../models/database/db.ts";
import { ERASED_ERROR, isErased } from "../../models/statements/erased-addresses.ts";
import { removeSubscribers } from "../../models/statements/remove-subscribers.ts";
import { type AttributeChanges, type Attributes, attributesError } from "../lib/attributes.ts";
import { type FieldErrors, invalid, notFound, subscriberLimitReached } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { type Limit, roomFor } from "./company-locks.ts";
import { addToLists, listErrors } from "./members.ts";
import { COLUMNS, type SubscriberRow, type SubscriberView, subscriberView, subscriberWithin } from "./subscriber.ts";

interface Given {
  email: string;
  first_name?: string;
  last_name?: string;
  attributes?: Attributes;
  lists?: string[];
}

interface Changes extends Pick<Given, "first_name" | "last_name" | "lists"> {
  attributes?: AttributeChanges;
}

/** Lists of other companies and too many attributes, reported together with the schema's own errors. */
export async function subscriberErrors(
  companyId: string,
  given: Changes,
  isValid: (field: "lists" | "attributes") => boolean,
): Promise<FieldErrors> {
  const error = isValid("attributes") ? attributesError(given.attributes!) : undefined;
  const lists = isValid("lists") ? await listErrors(companyId, "lists", given.lists!) : {};
  return error ? { ...lists, attributes: [error] } : lists;
}

// An address that exists already is not an error: its row is returned with the given values filled in.
const UPSERT = `
  insert into subscribers as s (id, company_id, email, first_name, last_name, attributes)
  values ($2, $1, $3, $4, $5, $6)
  on conflict (company_id, email_key) do update set
    first_name = coalesce(nullif(excluded.first_name, ''), s.first_name),
    last_name = coalesce(nullif(excluded.last_name, ''), s.last_name),
    attributes = s.attributes || excluded.attributes,
    updated_at = now()
  returning ${COLUMNS}`;

const KNOWN = "select from subscribers where company_id = $1 and email_key = address_key($2)";

async function upsert(on: Queryable, companyId: string, given: Given): Promise<SubscriberView> {
  const { email, first_name = "", last_name = "", attributes = {} } = given;
  const { rows } = await on.query({
    name: "subscriber-upsert",
    text: UPSERT,
    values: [companyId, newId(), email.trim(), first_name.trim(), last_name.trim(), JSON.stringify(attributes)],
  });
  return subscriberView(rows[0] as SubscriberRow);
}

function requireWithinLimits(attributes: Attributes): void {
  const error = attributesError(attributes);
  if (error) throw invalid({ attributes: [error] });
}

export async function createSubscriber(companyId: string, limit: Limit, given: Given): Promise<SubscriberView> {
  if (await isErased(companyId, given.email)) throw invalid({ email: [ERASED_ERROR] });
  // The common case is one statement.
  if (limit === null && !given.attributes && !given.lists?.length) return upsert(pool(), companyId, given);
  return transaction(async (client) => {
    const room = await roomFor(client, companyId, limit);
    if (room === 0 && !(await queryOne(KNOWN, [companyId, given.email.trim()], client))) {
      throw subscriberLimitReached(limit!);
    }
    const saved = await upsert(client, companyId, given);
    requireWithinLimits(saved.attributes);
    return withLists(client, companyId, saved, given.lists);
  }, INTERACTIVE);
}

async function withLists(client: Client, companyId: string, saved: SubscriberView, lists: string[] = []) {
  if (lists.length === 0) return saved;
  await addToLists(client, companyId, [saved.id], lists);
  return subscriberWithin(client, companyId, saved.id);
}

const UPDATE = `
  update subscribers s set
    first_name = coalesce($3, first_name),
    last_name = coalesce($4, last_name),
    attributes = jsonb_strip_nulls(attributes || $5),
    updated_at = now()
  where company_id = $1 and id = $2
  returning ${COLUMNS}`;

export function updateSubscriber(companyId: string, id: string, given: Changes): Promise<SubscriberView> {
  return transaction(async (client) => {
    const { first_name, last_name, attributes = {} } = given;
    const values = [companyId, id, first_name?.trim(), last_name?.trim(), JSON.stringify(attributes)];
    const row = await queryOne<SubscriberRow>(UPDATE, values, client);
    if (!row) throw notFound();
    requireWithinLimits(row.attributes);
    return withLists(client, companyId, subscriberView(row), given.lists);
  }, INTERACTIVE);
}

export async function removeSubscriber(companyId: string, id: string): Promise<null> {
  if ((await removeSubscribers(companyId, [id])) === 0) throw notFound();
  return null;
}
