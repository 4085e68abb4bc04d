/**
 * Serves the pages of docs/ below /docs/guides/, in the order of docs/README.md, with a search (search.ts) and without
 * scripts.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import nunjucks from "nunjucks";
import { PAGE_CSS } from "../../lib/page-style/page-style.ts";

const FOLDER = join(import.meta.dirname, "../../../docs");

interface Guide {
  /** File name without extension; also the last part of the path. */
  slug: string;
  title: string;
}

const readPage = (slug: string): string => readFileSync(join(FOLDER, `${slug}.md`), "utf8");

export const GUIDES: readonly Guide[] = [...readPage("README").matchAll(/^- \[([^\]]+)\]\(([\w-]+)\.md\)/gm)].map(
  ([, title, slug]) => ({ slug: slug!, title: title! }),
);

/** Pictures in the guides. */
export const IMAGES: readonly string[] = readdirSync(join(FOLDER, "images")).filter((name) => name.endsWith(".webp"));

export const readImage = (name: string): Buffer => readFileSync(join(FOLDER, "images", name));

export const GUIDES_CSS = `${PAGE_CSS}${readFileSync(join(import.meta.dirname, "guides.css"), "utf8")}`;

export const GUIDES_CSP =
  "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const environment = new nunjucks.Environment(new nunjucks.FileSystemLoader(import.meta.dirname), {
  autoescape: true,
  throwOnUndefined: true,
});

async function render(service: string, title: string, slug: string, root: string): Promise<string> {
  // Loaded at first use: most processes never serve a guide.
  const { renderMarkdown } = await import("./markdown.ts");
  const main = renderMarkdown(readPage(slug), root);
  return environment.render("guide.njk", { title, service, root, q: "", main });
}

export const guidesIndex = (service: string): Promise<string> => render(service, "Guides", "README", "");

export const guidePage = (service: string, { slug, title }: Guide): Promise<string> =>
  render(service, title, slug, "../");

export interface SearchResult {
  title: string;
  /** Relative to /docs/guides/. */
  link: string;
  excerpt: string;
}

export const searchPage = (service: string, q: string, found: readonly SearchResult[]): string =>
  environment.render("search.njk", { title: q ? `Search: ${q}` : "Search", service, root: "../", q, found });
