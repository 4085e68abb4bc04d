/** Pages of subscribers of a company, a list or a segment. */
import { queryOne } from "../../models/database/db.ts";
import { isOneOf, type Listing, listPage } from "../../models/database/listing.ts";
import { subscriberAt } from "../../models/database/row-at.ts";
import { SEARCHED_TEXT, type SubscriberStatus } from "../../models/subscriber.ts";
import type { ListQuery } from "../lib/shapes.ts";
import { isMemberOf } from "./chosen.ts";
import { COLUMNS, type SubscriberRow, subscriberView } from "./subscriber.ts";

interface Filters extends ListQuery {
  status?: SubscriberStatus | SubscriberStatus[];
  list?: string | string[];
}

type Which = Pick<Listing, "where" | "values"> & Partial<Listing>;

async function listSubscribers(which: Which, asked: ListQuery) {
  const listing: Listing = {
    from: "subscribers s",
    columns: COLUMNS,
    id: "s.id",
    orderings: { email: "s.email_key", first_name: "lower(s.first_name)", last_name: "lower(s.last_name)" },
    searchIn: [SEARCHED_TEXT],
    large: true,
    ...which,
  };
  const { results, ...page } = await listPage<SubscriberRow>(listing, asked);
  return { ...page, results: results.map(subscriberView) };
}

export function companySubscribers(companyId: string, asked: Filters) {
  const { list, status } = asked;
  if (typeof list === "string") return listMembers(companyId, list, asked);
  const which: Which = {
    where: ["s.company_id = $1"],
    values: [companyId],
    // Counters exist per status, too.
    counter: [companyId, typeof status === "string" ? `subscribers:${status}` : "subscribers", companyId],
    filtered: Array.isArray(status) || list !== undefined,
  };
  if (list) which.where.push(isMemberOf(`$${which.values.push(list)}`));
  if (status) which.where.push(isOneOf("s.status", status, which.values));
  return listSubscribers(which, asked);
}

/** PostgreSQL has statistics of larger lists and chooses the cheaper order itself. */
const MAX_LOOKED_UP = 10_000;

/** Members of a smaller list are looked up by full key, because the planner misjudges new companies. */
async function membersOf(companyId: string, listId: string): Promise<string> {
  const counted = await queryOne<{ n: number }>("select count_of($1, 'list_members', $2) n", [companyId, listId]);
  return (counted?.n ?? 0) <= MAX_LOOKED_UP
    ? `list_members m cross join lateral (${subscriberAt("$1", "m.subscriber_id", "r.*")}) s`
    : "list_members m join subscribers s on s.company_id = m.company_id and s.id = m.subscriber_id";
}

export async function listMembers(companyId: string, listId: string, asked: Filters) {
  const { status } = asked;
  const which: Which = {
    from: await membersOf(companyId, listId),
    where: ["m.company_id = $1", "m.list_id = $2", "m.left_at is null"],
    values: [companyId, listId],
    id: "m.subscriber_id",
    counter: [companyId, "list_members", listId],
    filtered: Boolean(status),
  };
  if (status) which.where.push(isOneOf("s.status", status, which.values));
  return listSubscribers(which, asked);
}

/** `where` is the segment's condition on subscribers `s`; the first value is the company. */
export const segmentMembers = ({ where, values }: { where: string; values: unknown[] }, asked: ListQuery) =>
  listSubscribers({ where: [where], values }, asked);
