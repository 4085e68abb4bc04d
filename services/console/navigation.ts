/** Where a person can go within a company: sections of the bar, and the pages of each. */
import type { PermittedAction } from "../permissions.ts";
import { messages } from "./messages.ts";
import { type CompanyVisit, may, type OperatorVisit, type PersonVisit } from "./request.ts";

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
    label: "Templates",
    pages: [
      { label: "Templates", path: "templates" },
      { label: "Media", path: "media" },
    ],
  },
  {
    label: "Subscribers",
    pages: [
      { label: "Subscribers", path: "subscribers" },
      { label: "Lists", path: "lists" },
      { label: "Segments", path: "segments" },
      { label: "Import", path: "import" },
      { label: "Suppressions", path: "suppressions" },
    ],
  },
  {
    label: "Sending",
    pages: [
      { label: "Servers", path: "servers" },
      { label: "Domains", path: "domains" },
      { label: "Bounces", path: "bounces" },
      { label: "Recipient domains", path: "recipient-domains" },
    ],
  },
  { label: "Webhooks", pages: [{ label: "Webhooks", path: "webhooks" }] },
  {
    label: "Settings",
    pages: [
      { label: "Company", path: "settings/company" },
      { label: "Branding", path: "settings/branding", needs: "accounts.updateCompany" },
      { label: "Members", path: "settings/members" },
      { label: "API keys", path: "settings/keys" },
      { label: "Plan", path: "settings/plan" },
      { label: "Audit log", path: "settings/audit-log", needs: "accounts.listAuditLog" },
    ],
  },
];

/** Of the person's own pages, below /app/. */
const ACCOUNT: Place[] = [
  { label: messages.account.section, path: "account" },
  { label: messages.password.title, path: "account/password" },
  { label: messages.twoFactor.title, path: "account/two-factor" },
  { label: messages.sessions.title, path: "account/sessions" },
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

const isWithin = (here: string, { path }: Pick<Place, "path">): boolean =>
  path === "" ? here === "" : here === path || here.startsWith(`${path}/`);

const isOwn = (path: string): boolean => path === "account" || path.startsWith("account/");

/** Of pages that are in no company. */
export function ownNavigation({ path }: PersonVisit): Navigation {
  const pages = ACCOUNT.map((place) => ({
    label: place.label,
    href: `/app/${place.path}`,
    current: path === place.path || (place.path !== "account" && isWithin(path, place)),
  }));
  return { sections: [], pages: isOwn(path) ? pages : [] };
}

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

/** Of operators' pages, which all stand in the bar. */
export function operatorLinks({ path }: OperatorVisit): Link[] {
  const here = path.split("/").slice(1).join("/");
  return Object.entries(messages.operator.pages).map(([below, label]) => ({
    label,
    href: below === "" ? "/app/operator" : `/app/operator/${below}`,
    current: isWithin(here, { path: below }),
  }));
}
