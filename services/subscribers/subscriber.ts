/** Public view of a subscriber. */
import { pool, type Queryable } from "../../models/database/db.ts";
import { listMembersOf } from "../../models/database/row-at.ts";
import { SUPPRESSION_OF, type SuppressionRow } from "../../models/statements/suppression-of.ts";
import type { SubscriberStatus } from "../../models/subscriber.ts";
import type { Attributes } from "../lib/attributes.ts";
import { notFound } from "../lib/errors.ts";

export interface SubscriberRow {
  id: string;
  email: string;
  first_name: string;
  last_name: string;
  status: SubscriberStatus;
  attributes: Attributes;
  created_at: Date;
  lists: string[];
  suppression: SuppressionRow | null;
}

/** Requires the alias `s`. */
export const COLUMNS = `s.id, s.email, s.first_name, s.last_name, s.status, s.attributes, s.created_at,
  array(select m.list_id from ${listMembersOf("s.id")} m where m.company_id = s.company_id and m.left_at is null
    order by m.list_id) lists,
  ${SUPPRESSION_OF} suppression`;

const suppressionView = ({ kind, created_at }: SuppressionRow) => ({
  kind,
  created_at: new Date(created_at).toISOString(),
});

export const subscriberView = (row: SubscriberRow) => ({
  id: row.id,
  email: row.email,
  first_name: row.first_name,
  last_name: row.last_name,
  status: row.status,
  attributes: row.attributes,
  lists: row.lists,
  suppression: row.suppression && suppressionView(row.suppression),
  created_at: row.created_at.toISOString(),
});
export type SubscriberView = ReturnType<typeof subscriberView>;

const GET = `select ${COLUMNS} from subscribers s where s.company_id = $1 and s.id = $2`;

export async function getSubscriber(
  companyId: string,
  id: string,
  client: Queryable = pool(),
): Promise<SubscriberView> {
  // Prepared under a name, so that it is planned once per connection.
  const { rows } = await client.query({ name: "subscriber", text: GET, values: [companyId, id] });
  if (!rows[0]) throw notFound();
  return subscriberView(rows[0] as SubscriberRow);
}
