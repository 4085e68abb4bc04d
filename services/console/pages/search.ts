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

export async function searchPage(visit: CompanyVisit): Promise<Answer> {
  const t = messages.search;
  const searched = (visit.query.q ?? "").trim().slice(0, 255);
  const asked = { search: searched, page_size: MAX_HITS };
  const [people, campaigns, templates] = searched
    ? await Promise.all([
        callIn(visit, "subscribers.list", asked),
        callIn(visit, "campaigns.list", asked),
        callIn(visit, "renderer.listTemplates", asked),
      ])
    : [];
  const group = (title: string, icon: string, path: string, hits: { id: string; label: string }[] = []) => ({
    title,
    icon,
    hits: hits.map(({ id, label }) => ({ label, href: companyPath(visit, `${path}/${id}`) })),
  });
  const groups = [
    { title: t.pages, icon: "compass", hits: searched ? pagesNamed(visit, searched) : [] },
    group(
      messages.campaigns.title,
      "send",
      "campaigns",
      campaigns?.results.map((one) => ({ ...one, label: one.name })),
    ),
    group(
      messages.subscribers.title,
      "users",
      "subscribers",
      people?.results.map((one) => ({ ...one, label: one.email })),
    ),
    group(
      messages.templates.title,
      "panels-top-left",
      "templates",
      templates?.results.map((one) => ({ ...one, label: one.name })),
    ),
  ].filter(({ hits }) => hits.length > 0);
  return { view: "search", title: t.title, values: { searched, groups } };
}
