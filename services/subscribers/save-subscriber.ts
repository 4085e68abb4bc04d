/** Creating and changing one subscriber. */
import { type Client, pool, type Queryable, queryOne, transaction } from "../../models/database/db.ts";
import { type AttributeChanges, type Attributes, attributesFault } from "../lib/attributes.ts";
import { type FieldErrors, invalid, notFound, subscriberLimitReached } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { type Limit, roomFor } from "./company-locks.ts";
import { addToLists, listErrors } from "./members.ts";
import { COLUMNS, getSubscriber, type SubscriberRow, type SubscriberView, subscriberView } from "./subscriber.ts";

export interface Given {
  email: string;
  first_name?: string;
  last_name?: string;
  attributes?: Attributes;
  lists?: string[];
}

export interface Changes extends Pick<Given, "first_name" | "last_name" | "lists"> {
  attributes?: AttributeChanges;
}

/** Lists that are not this company's, attributes that are too many: told with the schema's own faults. */
export async function subscriberErrors(
  companyId: string,
  given: Changes,
  isValid: (field: "lists" | "attributes") => boolean,
): Promise<FieldErrors> {
  const fault = isValid("attributes") ? attributesFault(given.attributes!) : undefined;
  const lists = isValid("lists") ? await listErrors(companyId, "lists", given.lists!) : {};
  return fault ? { ...lists, attributes: [fault] } : lists;
}

// Naming the conflict makes "again" safe: the existing row is returned, with what was given filled in.
const UPSERT = `
  insert into subscribers as s (id, company_id, email, first_name, last_name, attributes)
  values ($2, $1, $3, $4, $5, $6)
  on conflict (company_id, email_key) do update set
    first_name = coalesce(nullif(excluded.first_name, ''), s.first_name),
    last_name = coalesce(nullif(excluded.last_name, ''), s.last_name),
    attributes = s.attributes || excluded.attributes,
    updated_at = now()
  returning ${COLUMNS}`;

const KNOWN = "select from subscribers where company_id = $1 and email_key = lower($2)";

async function upsert(on: Queryable, companyId: string, given: Given): Promise<SubscriberView> {
  const { email, first_name = "", last_name = "", attributes = {} } = given;
  const { rows } = await on.query({
    name: "subscriber-upsert",
    text: UPSERT,
    values: [companyId, newId(), email.trim(), first_name.trim(), last_name.trim(), JSON.stringify(attributes)],
  });
  return subscriberView(rows[0] as SubscriberRow);
}

function refuseTooMuch(attributes: Attributes): void {
  const fault = attributesFault(attributes);
  if (fault) throw invalid({ attributes: [fault] });
}

export async function createSubscriber(companyId: string, limit: Limit, given: Given): Promise<SubscriberView> {
  // The common case is one statement.
  if (limit === null && !given.attributes && !given.lists?.length) return upsert(pool(), companyId, given);
  return transaction(async (client) => {
    const room = await roomFor(client, companyId, limit);
    if (room === 0 && !(await queryOne(KNOWN, [companyId, given.email.trim()], client))) {
      throw subscriberLimitReached(limit!);
    }
    const saved = await upsert(client, companyId, given);
    refuseTooMuch(saved.attributes);
    return withLists(client, companyId, saved, given.lists);
  });
}

async function withLists(client: Client, companyId: string, saved: SubscriberView, lists: string[] = []) {
  if (lists.length === 0) return saved;
  await addToLists(client, companyId, [saved.id], lists);
  return getSubscriber(companyId, saved.id, client);
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
    refuseTooMuch(row.attributes);
    return withLists(client, companyId, subscriberView(row), given.lists);
  });
}
