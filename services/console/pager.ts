/** Pages of a list: which one is shown, and the links to its neighbours with all that the person asked for. */
import { LAST_PAGE } from "../../models/database/filtered-count.ts";
import { messages } from "./messages.ts";
import { formatted } from "./render.ts";

export const PAGE_SIZE = 25;

/** How many a list has, as text. Of an estimate two digits: the rest of it means nothing. */
export const numberOf = (count: number, isEstimate = false): string =>
  isEstimate ? messages.pager.about(formatted(Number(count.toPrecision(2)))) : formatted(count);

type Query = Record<string, string>;

/** 1 for what is no number of a page; one beyond the last is the action's 404. */
export function pageOf({ page }: Query): number {
  return page !== undefined && /^[1-9]\d{0,8}$/.test(page) ? Number(page) : 1;
}

/** What every list's action is asked. */
export const askedOf = (query: Query) => ({
  page: pageOf(query),
  page_size: PAGE_SIZE,
  ...(query.search ? { search: query.search } : {}),
});

export interface Pager {
  page: number;
  pages: number;
  previous: string | null;
  next: string | null;
}

export function pagerOf(
  path: string,
  { notice: _, result: __, ...query }: Query,
  count: number,
  isEstimate = false,
): Pager {
  const page = pageOf(query);
  const all = Math.max(1, Math.ceil(count / PAGE_SIZE));
  const pages = isEstimate ? Math.min(all, LAST_PAGE) : all;
  const link = (to: number) => `${path}?${new URLSearchParams({ ...query, page: `${to}` })}`;
  return { page, pages, previous: page > 1 ? link(page - 1) : null, next: page < pages ? link(page + 1) : null };
}
