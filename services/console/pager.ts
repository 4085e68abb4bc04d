/** Pages of a list: which one is shown, and the links to its neighbours with all that the person asked for. */
import type { Page } from "../../models/database/listing.ts";
import { messages } from "./messages.ts";
import { formatted } from "./render.ts";

export const PAGE_SIZE = 25;

/** An estimate as text, with its two meaningful digits. */
export const rounded = (estimate: number): string => formatted(Number(estimate.toPrecision(2)));

/** The length of a list as text. */
export const countText = (count: number, isEstimate = false): string =>
  isEstimate ? messages.pager.about(rounded(count)) : formatted(count);

type Query = Record<string, string>;

/**
 * Returns the page number, 1 if it is invalid. A page after the last one gets the action's 404. With a cursor it only
 * numbers the page.
 */
export function pageOf({ page }: Query): number {
  return page !== undefined && /^[1-9]\d{0,8}$/.test(page) ? Number(page) : 1;
}

/** Parameters that all list actions accept. */
export const askedOf = (query: Query) => ({
  page: pageOf(query),
  page_size: PAGE_SIZE,
  ...(query.cursor ? { cursor: query.cursor } : {}),
  ...(query.search ? { search: query.search } : {}),
});

interface Pager {
  page: number;
  pages: string;
  previous: string | null;
  next: string | null;
}

export function pagerOf(
  path: string,
  { notice: _, result: __, ...query }: Query,
  { count, count_estimated, next, previous }: Omit<Page<unknown>, "results">,
): Pager {
  const page = pageOf(query);
  const link = (to: number, cursor: string | null) =>
    cursor && `${path}?${new URLSearchParams({ ...query, page: `${Math.max(1, to)}`, cursor })}`;
  return {
    page,
    pages: countText(Math.max(page, Math.ceil(count / PAGE_SIZE)), count_estimated),
    previous: link(page - 1, previous),
    next: link(page + 1, next),
  };
}
