/** Where a person can go within a company: sections of the bar, and the pages of each. */
import type { PermittedAction } from "../permissions.ts";
import { type CompanyVisit, may } from "./request.ts";

interface Place {
  label: string;
  /** Below the company's own. */
  path: string;
  /** Whoever may not do this does not see the link. */
  needs?: PermittedAction;
}

interface Section {
  label: string;
  pages: [Place, ...Place[]];
}

const SECTIONS: Section[] = [
  { label: "Overview", pages: [{ label: "Overview", path: "" }] },
  {
    label: "Campaigns",
    pages: [
      { label: "Campaigns", path: "campaigns" },
      { label: "Drafts", path: "campaigns/drafts" },
    ],
  },
  {
    label: "Subscribers",
    pages: [
      { label: "Subscribers", path: "subscribers" },
      { label: "Lists", path: "lists" },
      { label: "Suppressions", path: "suppressions" },
    ],
  },
  {
    label: "Settings",
    pages: [
      { label: "Members", path: "settings/members" },
      { label: "API keys", path: "settings/keys" },
      { label: "Plan", path: "settings/plan" },
    ],
  },
];

export interface Link {
  label: string;
  href: string;
  current: boolean;
}

export interface Navigation {
  sections: Link[];
  /** Of the section of this page; empty where it is the only one. */
  pages: Link[];
}

const isWithin = (here: string, { path }: Place): boolean =>
  path === "" ? here === "" : here === path || here.startsWith(`${path}/`);

export function navigationOf(visit: CompanyVisit): Navigation {
  const root = `/app/${visit.company.id}`;
  const here = visit.path.split("/").slice(1).join("/");
  const linkTo = (label: string, { path }: Place, current: boolean): Link => ({
    label,
    href: path === "" ? root : `${root}/${path}`,
    current,
  });
  const shown = SECTIONS.map(({ label, pages }) => ({
    label,
    pages: pages.filter(({ needs }) => needs === undefined || may(visit, needs)),
  })).filter(({ pages }) => pages.length > 0);
  // Of two that fit, the one further down.
  const nearest = (pages: Place[]) =>
    pages.filter((page) => isWithin(here, page)).toSorted((a, b) => b.path.length - a.path.length)[0];
  const isCurrent = (pages: Place[]) => pages.some((page) => isWithin(here, page));
  const current = shown.find(({ pages }) => isCurrent(pages));
  return {
    sections: shown.map(({ label, pages }) => linkTo(label, pages[0]!, isCurrent(pages))),
    pages:
      current && current.pages.length > 1
        ? current.pages.map((page) => linkTo(page.label, page, page === nearest(current.pages)))
        : [],
  };
}
