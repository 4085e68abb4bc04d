/** Search in people, campaigns, templates and the console's own pages. */
import { messages } from "../messages.ts";
import { navigationOf } from "../navigation.ts";
import { type Answer, type CompanyVisit, callIn, companyPath } from "../request.ts";

const MAX_HITS = 8;

/** Finds pages by a word of their name. */
function pagesNamed(visit: CompanyVisit, word: string) {
  const links = navigationOf(visit).sections.flatMap((section) => section.places);
  return links.filter(({ label }) => label.toLowerCase().includes(word.toLowerCase()));
}

interface Hit {
  id: string;
  label: string;
  note?: string | undefined;
}

function hitsOf<T extends { id: string }>(
  { count, results }: { count: number; results: T[] },
  words: (one: T) => [label: string, note?: string],
): { count: number; hits: Hit[] } {
  const hits = results.map((one) => {
    const [label, note] = words(one);
    return { id: one.id, label, note: note?.trim() };
  });
  return { count, hits };
}

export async function searchPage(visit: CompanyVisit): Promise<Answer> {
  const t = messages.search;
  const searched = (visit.query.q ?? "").trim().slice(0, 255);
  const params = { search: searched, page_size: MAX_HITS };
  const found = searched
    ? await Promise.all([
        callIn(visit, "subscribers.list", params),
        callIn(visit, "campaigns.list", params),
        callIn(visit, "renderer.listTemplates", params),
      ])
    : undefined;
  /** A page with results, with those of one kind that were found. */
  const group = (path: string, title: string, icon: string, found: { count: number; hits: Hit[] }) => ({
    title,
    icon,
    hits: found.hits.map(({ id, ...hit }) => ({ ...hit, href: companyPath(visit, `${path}/${id}`) })),
    all: found.count > MAX_HITS && `${companyPath(visit, path)}?${new URLSearchParams({ search: searched })}`,
  });
  const { campaigns: c, subscribers: s, templates: m } = messages;
  const groups = found
    ? [
        { title: t.pages, icon: "compass", hits: pagesNamed(visit, searched) },
        group(
          "campaigns",
          c.title,
          "send",
          hitsOf(found[1], ({ name }) => [name]),
        ),
        group(
          "subscribers",
          s.title,
          "users",
          hitsOf(found[0], (one) => [one.email, `${one.first_name} ${one.last_name}`]),
        ),
        group(
          "templates",
          m.title,
          "panels-top-left",
          hitsOf(found[2], ({ name, subject }) => [name, subject]),
        ),
      ]
    : [];
  const here = companyPath(visit, "search");
  return { view: "search", title: t.title, values: { searched, here, groups: groups.filter(({ hits }) => hits[0]) } };
}
