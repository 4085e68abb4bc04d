/** Search in people, campaigns, templates, suppressions, settings and the console's own pages. */
import { messages } from "../messages.ts";
import { navigationOf } from "../navigation.ts";
import { type Answer, type CompanyVisit, callIn, companyPath } from "../request.ts";

const t = messages.search;
const MAX_HITS = 8;
const MAX_LENGTH = 255;
/** First half of a character, such as an emoji, that the cut divided. */
const HALF = /[\ud800-\udbff]$/;

interface Hit {
  label: string;
  href: string;
  note?: string | undefined;
}

/** Names of fields of the page "Company". The link's fragment puts the cursor into the field. */
const SETTINGS = {
  name: "name",
  website: "website",
  replyTo: "reply_to_email",
  footer: "footer_text",
  timezone: "timezone",
  server: "default_smtp_config_id",
  tracking: "tracking_enabled",
  individual: "individual_tracking",
  doubleOptIn: "double_opt_in",
} as const;

/** Finds pages and settings by a word of their name. */
function pagesNamed(visit: CompanyVisit, word: string): Hit[] {
  const { title, fields } = messages.company;
  const settings = Object.entries(SETTINGS).map(([name, field]) => ({
    label: fields[name as keyof typeof SETTINGS].label,
    href: companyPath(visit, `settings/company#${field}`),
    note: title,
  }));
  const links: Hit[] = navigationOf(visit).sections.flatMap(({ places }) => places);
  return [...links, ...settings].filter(({ label }) => label.toLowerCase().includes(word.toLowerCase()));
}

interface Group {
  title: string;
  icon: string;
  hits: Hit[];
  all?: string | false;
}

async function groupsFor(visit: CompanyVisit, search: string): Promise<Group[]> {
  const params = { search, page_size: MAX_HITS };
  const [people, campaigns, templates, suppressions] = await Promise.all([
    callIn(visit, "subscribers.list", params),
    callIn(visit, "campaigns.list", params),
    callIn(visit, "renderer.listTemplates", params),
    callIn(visit, "subscribers.listSuppressions", params),
  ]);
  const pathOf = (path: string, of = search) => `${companyPath(visit, path)}?${new URLSearchParams({ search: of })}`;
  const all = (path: string, count: number) => count > MAX_HITS && pathOf(path);
  const linked = <T extends { id: string }>(path: string, rows: T[], words: (one: T) => Omit<Hit, "href">) =>
    rows.map((one) => ({ ...words(one), href: companyPath(visit, `${path}/${one.id}`) }));
  // A suppressed subscriber's own page says so.
  const others = suppressions.results.filter(({ email }) => !people.results.some((one) => one.email === email));
  const groups: Group[] = [
    { title: t.pages, icon: "compass", hits: pagesNamed(visit, search) },
    {
      title: messages.campaigns.title,
      icon: "send",
      hits: linked("campaigns", campaigns.results, ({ name }) => ({ label: name })),
      all: all("campaigns", campaigns.count),
    },
    {
      title: messages.subscribers.title,
      icon: "users",
      hits: linked("subscribers", people.results, ({ email, first_name, last_name }) => ({
        label: email,
        note: `${first_name} ${last_name}`.trim(),
      })),
      all: all("subscribers", people.count),
    },
    {
      title: messages.templates.title,
      icon: "panels-top-left",
      hits: linked("templates", templates.results, ({ name, subject }) => ({ label: name, note: subject })),
      all: all("templates", templates.count),
    },
    {
      title: messages.suppressions.title,
      icon: "shield-check",
      hits: others.map(({ email, domain, kind }) => {
        const label = email ?? domain ?? "";
        return { label, note: messages.suppressions.kinds[kind], href: pathOf("suppressions", label) };
      }),
      all: all("suppressions", suppressions.count),
    },
  ];
  return groups.filter(({ hits }) => hits.length > 0);
}

/** A search with one hit leads there. */
export async function searchPage(visit: CompanyVisit): Promise<Answer> {
  const searched = (visit.query.q ?? "").trim().slice(0, MAX_LENGTH).replace(HALF, "");
  const groups = searched ? await groupsFor(visit, searched) : [];
  const [hit, ...more] = groups.flatMap(({ hits }) => hits);
  if (hit && more.length === 0) return { goTo: hit.href };
  return { view: "search", title: t.title, values: { searched, here: companyPath(visit, "search"), groups } };
}
