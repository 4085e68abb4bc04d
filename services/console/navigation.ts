/** The sidebar: sections, the pages of the current one, and the trail above a page's title. */
import type { PermittedAction } from "../permissions.ts";
import { messages } from "./messages.ts";
import { type CompanyVisit, may, type OperatorVisit, type PersonVisit } from "./request.ts";

const t = messages.navigation;

interface Place {
  label: string;
  /** Below the company's own. */
  path: string;
  /** People without this right do not see the link. */
  needs?: PermittedAction;
}

interface Section {
  label: string;
  icon: string;
  /** Heading above this section. */
  group?: string;
  /** At the foot of the sidebar. */
  isLast?: true;
  pages: [Place, ...Place[]];
}

const SECTIONS: Section[] = [
  { label: t.overview, icon: "house", pages: [{ label: t.overview, path: "" }] },
  {
    label: t.campaigns,
    icon: "send",
    pages: [
      { label: t.allCampaigns, path: "campaigns" },
      { label: t.drafts, path: "campaigns/drafts" },
    ],
  },
  {
    label: t.audience,
    icon: "users",
    pages: [
      { label: t.subscribers, path: "subscribers" },
      { label: t.lists, path: "lists" },
      { label: t.segments, path: "segments" },
      { label: t.import, path: "import" },
      { label: t.suppressions, path: "suppressions" },
    ],
  },
  { label: t.templates, icon: "panels-top-left", pages: [{ label: t.templates, path: "templates" }] },
  { label: t.media, icon: "image", pages: [{ label: t.media, path: "media" }] },
  { label: t.servers, icon: "server", group: t.sending, pages: [{ label: t.servers, path: "servers" }] },
  {
    label: t.deliverability,
    icon: "shield-check",
    pages: [
      { label: t.domains, path: "domains" },
      { label: t.bounces, path: "bounces" },
      { label: t.recipientDomains, path: "recipient-domains" },
    ],
  },
  { label: t.webhooks, icon: "webhook", pages: [{ label: t.webhooks, path: "webhooks" }] },
  {
    label: t.settings,
    icon: "settings",
    isLast: true,
    pages: [
      { label: t.company, path: "settings/company" },
      { label: t.branding, path: "settings/branding", needs: "accounts.updateCompany" },
      { label: t.members, path: "settings/members" },
      { label: t.keys, path: "settings/keys" },
      { label: t.plan, path: "settings/plan" },
      { label: t.auditLog, path: "settings/audit-log", needs: "accounts.listAuditLog" },
    ],
  },
];

/** The person's own pages, below /app/. */
const ACCOUNT = [
  { label: messages.account.section, path: "account", icon: "circle-user-round" },
  { label: messages.password.title, path: "account/password", icon: "lock" },
  { label: messages.twoFactor.title, path: "account/two-factor", icon: "shield-check" },
  { label: messages.sessions.title, path: "account/sessions", icon: "monitor-smartphone" },
];

/** Operators' pages, below /app/operator/. */
const OPERATOR = [
  { path: "", icon: "activity" },
  { path: "senders", icon: "server" },
  { path: "campaigns", icon: "send" },
  { path: "companies", icon: "building-2" },
  { path: "plans", icon: "layers" },
  { path: "webhooks", icon: "webhook" },
  { path: "why", icon: "search" },
  { path: "sessions", icon: "monitor-smartphone" },
] as const;

export interface Link {
  label: string;
  href: string;
  current: boolean;
  icon?: string;
}

interface ShownSection extends Link {
  group?: string | undefined;
  isLast?: boolean | undefined;
  /** Pages shown below the current section; empty if it has only one. */
  pages: Link[];
  places: Link[];
}

export interface Navigation {
  sections: ShownSection[];
  /** The pages that this one is below, the nearest last. */
  trail: { label: string; href: string }[];
}

const isWithin = (here: string, { path }: Pick<Place, "path">): boolean =>
  path === "" ? here === "" : here === path || here.startsWith(`${path}/`);

/** The page with the longest path among those that contain `here`. */
const nearest = <P extends Pick<Place, "path">>(pages: readonly P[], here: string): P | undefined =>
  pages.filter((page) => isWithin(here, page)).toSorted((a, b) => b.path.length - a.path.length)[0];

const flat = (places: readonly (Place & { icon: string })[], root: string, here: string): Navigation => {
  const current = nearest(places, here);
  const sections = places.map((place) => ({
    label: place.label,
    icon: place.icon,
    href: `${root}${place.path && `/${place.path}`}`,
    current: place === current,
    pages: [],
    places: [],
  }));
  return { sections, trail: [] };
};

/** Pages outside any company. */
export const ownNavigation = ({ path }: PersonVisit): Navigation => flat(ACCOUNT, "/app", path);

export function navigationOf(visit: CompanyVisit): Navigation {
  const root = `/app/${visit.company.id}`;
  const here = visit.path.split("/").slice(1).join("/");
  const shown = SECTIONS.map((section) => ({
    ...section,
    pages: section.pages.filter(({ needs }) => needs === undefined || may(visit, needs)),
  }));
  const current = nearest(
    shown.flatMap(({ pages }) => pages),
    here,
  );
  const linkTo = (place: Place): Link => ({
    label: place.label,
    href: place.path === "" ? root : `${root}/${place.path}`,
    current: place === current,
  });
  const sections = shown.map(({ pages, ...section }) => {
    const isCurrent = pages.some((page) => page === current);
    const places = pages.map(linkTo);
    return {
      ...section,
      href: places[0]!.href,
      current: isCurrent,
      places,
      pages: isCurrent && places[1] ? places : [],
    };
  });
  return { sections, trail: current && current.path !== here ? [linkTo(current)] : [] };
}

export const operatorNavigation = ({ path }: OperatorVisit): Navigation =>
  flat(
    OPERATOR.map((place) => ({ ...place, label: messages.operator.pages[place.path] })),
    "/app/operator",
    path.split("/").slice(1).join("/"),
  );
