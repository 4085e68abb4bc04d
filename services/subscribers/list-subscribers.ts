/** Pages of subscribers: all of a company, those of a list, those of a segment. */
import { FEW } from "../../models/database/filtered-count.ts";
import { listPage } from "../../models/database/listing.ts";
import { subscriberAt } from "../../models/database/row-at.ts";
import { SEARCHED_TEXT, type SubscriberStatus } from "../../models/subscriber.ts";
import type { ListQuery } from "../lib/shapes.ts";
import { type Condition, largePage, mostOf, NARROWED_BY, sizesOf } from "./large-lists.ts";
import { COLUMNS, type SubscriberRow, subscriberView } from "./subscriber.ts";

interface Which {
  where: string[];
  values: unknown[];
  from?: string;
  /** Finds a position in the default order with fewer tables than `from`. */
  positions?: { from: string; where: string[]; id: string };
  counter?: [companyId: string, name: string, ref: string];
  filtered?: boolean;
  indexed?: string[];
  parted?: (n: number, where: string, sorted: string) => string;
}

const ORDERINGS = { email: "s.email_key", first_name: "lower(s.first_name)", last_name: "lower(s.last_name)" };

export async function listSubscribers(which: Which, asked: ListQuery) {
  const { results, ...page } = await listPage<SubscriberRow>(
    {
      from: "subscribers s",
      columns: COLUMNS,
      id: "s.id",
      orderings: ORDERINGS,
      searchIn: [SEARCHED_TEXT],
      large: true,
      indexed: ["email"],
      searchIsIndexed: true,
      narrowedBy: NARROWED_BY,
      rows: { from: "subscribers s", where: ["s.company_id = $1"] },
      ...which,
    },
    asked,
  );
  return { ...page, results: results.map(subscriberView) };
}

interface Filters extends ListQuery {
  status?: SubscriberStatus;
  list?: string;
  condition?: Condition;
}

/** Undefined: as any list is read. No counter knows how many fit these filters, and there may be many. */
async function fromMany(companyId: string, asked: Filters) {
  if (!asked.search && !(asked.list && asked.status) && !asked.condition) return undefined;
  const sizes = await sizesOf(companyId, asked);
  if (!asked.list && mostOf(sizes) <= FEW) return undefined;
  const { ordering = "-created_at" } = asked;
  const direction = ordering.startsWith("-") ? "desc" : "asc";
  const field = ordering.replace(/^-/, "");
  const byKey = field === "created_at";
  if (!byKey && !Object.hasOwn(ORDERINGS, field)) return undefined;
  const expressions = byKey ? ["s.id"] : [ORDERINGS[field as keyof typeof ORDERINGS], "s.id"];
  const sorted = expressions.map((expression) => `${expression} ${direction}`).join(", ");
  const page = await largePage(companyId, asked, sizes, { sorted, direction, byKey, ...partedBy(ordering) });
  return page && { ...page, results: page.results.map(subscriberView) };
}

/** The orders of names have those who are in the index of searches; the others, who came a moment ago, are sorted. */
function parted(n: number, where: string, sorted: string): string {
  const part = (of: string) => `(select * from subscribers s where ${where} and ${of} order by ${sorted} limit ${n})`;
  return `(${part("s.in_search")} union all ${part("not s.in_search")}) s`;
}

/** An index has all of a company in the order of addresses, too. */
const partedBy = (ordering: string | undefined) => (!ordering || /created_at$|email$/.test(ordering) ? {} : { parted });

/** With the requested filters; `filtered` says that no counter matches them. */
export async function companySubscribers(companyId: string, asked: Filters) {
  if (asked.list) return listMembers(companyId, asked.list, asked);
  const found = await fromMany(companyId, asked);
  if (found) return found;
  const which: Which = {
    where: ["s.company_id = $1"],
    values: [companyId],
    counter: [companyId, asked.status ? `subscribers:${asked.status}` : "subscribers", companyId],
    indexed: Object.keys(ORDERINGS),
    ...partedBy(asked.ordering),
  };
  if (asked.status) which.where.push(`s.status = $${which.values.push(asked.status)}`);
  return listSubscribers(which, asked);
}

/**
 * Of few members all are sorted, each looked up by the whole key whatever the planner knows of them. Of many a page is found by
 * walking everybody in the order that is asked for.
 */
async function peopleOf(companyId: string, listId: string, { ordering = "created_at" }: Filters): Promise<string> {
  const isSorted = !ordering.endsWith("created_at");
  const members = isSorted ? (await sizesOf(companyId, { list: listId })).of_list! : 0;
  return members <= FEW
    ? `list_members m cross join lateral (${subscriberAt("$1", "m.subscriber_id", "r.*")}) s`
    : "list_members m join subscribers s on s.company_id = m.company_id and s.id = m.subscriber_id";
}

export async function listMembers(companyId: string, listId: string, asked: Filters) {
  const found = await fromMany(companyId, { ...asked, list: listId });
  if (found) return found;
  const member = ["m.company_id = $1", "m.list_id = $2", "m.left_at is null"];
  const which: Which = {
    from: await peopleOf(companyId, listId, asked),
    where: [...member],
    values: [companyId, listId],
    positions: { from: "list_members m", where: member, id: "m.subscriber_id" },
    counter: [companyId, "list_members", listId],
  };
  if (asked.status) {
    which.where.push(`s.status = $${which.values.push(asked.status)}`);
    which.filtered = true;
  }
  return listSubscribers(which, asked);
}

/** `condition`: the segment's. */
export async function segmentMembers(companyId: string, condition: Condition, asked: ListQuery) {
  const found = await fromMany(companyId, { ...asked, condition });
  if (found) return found;
  const { where, values } = condition(1);
  return listSubscribers({ where: [where], values, filtered: true }, asked);
}
