/** Id and paths of the campaign that a page shows. */
import { notFound } from "../../lib/errors.ts";
import { isUuid } from "../../lib/ids.ts";
import { messages } from "../messages.ts";
import { type CompanyVisit, companyPath } from "../request.ts";

/** Returns the campaign's id. Throws a 404 if it is not an id. */
export function campaignId({ params: { id = "" } }: CompanyVisit): string {
  if (!isUuid(id)) throw notFound();
  return id;
}

export const campaignPath = (visit: CompanyVisit, rest = ""): string =>
  companyPath(visit, `campaigns/${visit.params.id}${rest && `/${rest}`}`);

const TABS = ["", "recipients", "mail"] as const;

export const tabsOf = (visit: CompanyVisit, current: (typeof TABS)[number]) =>
  TABS.map((rest) => ({
    label: messages.campaigns.tabs[rest],
    href: campaignPath(visit, rest),
    current: rest === current,
  }));
