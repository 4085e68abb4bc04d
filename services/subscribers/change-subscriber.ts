/** Changes and removes one subscriber. */
import { INTERACTIVE, queryOne, transaction } from "../../models/database/db.ts";
import { removeSubscribers } from "../../models/statements/remove-subscribers.ts";
import { type AttributeChanges, attributesError } from "../lib/attributes.ts";
import { type FieldErrors, notFound } from "../lib/errors.ts";
import { type GivenSubscriber, requireWithinLimits, withLists } from "./create-subscriber.ts";
import { listErrors } from "./members.ts";
import { COLUMNS, type SubscriberRow, type SubscriberView, subscriberView } from "./subscriber.ts";

interface Changes extends Pick<GivenSubscriber, "first_name" | "last_name" | "lists"> {
  attributes?: AttributeChanges;
}

/** Reports lists of other companies and too many attributes together with the schema's errors. */
export async function subscriberErrors(
  companyId: string,
  given: Changes,
  isValid: (field: "lists" | "attributes") => boolean,
): Promise<FieldErrors> {
  const error = isValid("attributes") ? attributesError(given.attributes!) : undefined;
  const lists = isValid("lists") ? await listErrors(companyId, "lists", given.lists!) : {};
  return error ? { ...lists, attributes: [error] } : lists;
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
    requireWithinLimits(row);
    return withLists(client, companyId, subscriberView(row), given.lists);
  }, INTERACTIVE);
}

export async function removeSubscriber(companyId: string, id: string): Promise<null> {
  if ((await removeSubscribers(companyId, [id])) === 0) throw notFound();
  return null;
}
