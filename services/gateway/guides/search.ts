/** Searches the sections of the guides and the operations of the reference. */
import type { OpenApi } from "../openapi/document.ts";
import type { SearchResult } from "./guides.ts";

interface Entry extends SearchResult {
  /** The searched text, in lower case. */
  text: string;
}

const MAX_QUERY_LENGTH = 100;
const MAX_FOUND = 30;
const EXCERPT_LENGTH = 160;

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

const textOf = (html: string) =>
  html
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/&(#?\w+);/g, (all, name: string) => ENTITIES[name] ?? all)
    .replaceAll(/\s+/g, " ")
    .trim();

/** Splits a guide's page at the headings that have an id. */
export function sectionsOf(slug: string, title: string, page: string): Entry[] {
  const main = page.slice(page.indexOf("<main>"), page.indexOf("</main>"));
  return main.split(/(?=<h[23] id=)/).map((part) => {
    const [, id, heading] = /^<h[23] id="([^"]+)">(.*?)<\/h/.exec(part) ?? [];
    const text = textOf(part.replace(/^<h.*?<\/h\d>/, ""));
    return {
      title: heading ? `${title}: ${textOf(heading)}` : title,
      link: `${slug}/${id ? `#${id}` : ""}`,
      excerpt: text.slice(0, EXCERPT_LENGTH),
      text: `${title} ${heading ?? ""} ${text}`.toLowerCase(),
    };
  });
}

export function operationsOf({ paths }: OpenApi): Entry[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, summary, description, tags }]) => {
      const tag = encodeURIComponent((tags as string[])[0]!);
      return {
        title: `API: ${summary}`,
        link: `../#/${tag}/${operationId}`,
        excerpt: `${method.toUpperCase()} ${path}`,
        text: `${summary} ${method} ${path} ${operationId} ${description ?? ""}`.toLowerCase(),
      };
    }),
  );
}

/** Entries that contain all words, ranked by matches in the title. */
export function search(entries: readonly Entry[], query: string): SearchResult[] {
  const words = query.slice(0, MAX_QUERY_LENGTH).toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const rank = ({ title }: Entry) => words.filter((word) => title.toLowerCase().includes(word)).length;
  return entries
    .filter(({ text }) => words.every((word) => text.includes(word)))
    .toSorted((a, b) => rank(b) - rank(a))
    .slice(0, MAX_FOUND);
}
