/** The paths of the guides and what they answer. */
import type { Context } from "../http/context.ts";
import type { RouteHandler } from "../http/router.ts";
import { staticFile } from "../http/static-file.ts";
import { type Described, describeApi } from "../openapi/document.ts";
import { GUIDES, GUIDES_CSP, GUIDES_CSS, guidePage, guidesIndex, searchPage } from "./guides.ts";
import { operationsOf, search, sectionsOf } from "./search.ts";

const ROOT = "/docs/guides/";
const html = "text/html; charset=utf-8";
const headers = { "Content-Security-Policy": GUIDES_CSP };

function searchHandler(options: Described & { name: string }): RouteHandler {
  let entries: Parameters<typeof search>[0] | undefined;
  return (context: Context) => {
    context.state.route = `${ROOT}search/`;
    // Made at first use: most processes are never asked.
    entries ??= [
      ...GUIDES.flatMap((guide) => sectionsOf(guide.slug, guide.title, guidePage(options.name, guide))),
      ...operationsOf(describeApi(options)),
    ];
    const q = [context.query.q ?? ""].flat()[0]!;
    context.set({ ...headers, "Content-Type": html });
    context.body = searchPage(options.name, q, search(entries, q));
  };
}

export function guides(options: Described & { name: string }): [path: string, handler: RouteHandler][] {
  const page = (path: string, read: () => string): [string, RouteHandler] => [
    path,
    staticFile(path, { type: html, headers, read: () => Buffer.from(read()) }),
  ];
  return [
    page(ROOT, () => guidesIndex(options.name)),
    ...GUIDES.map((guide) => page(`${ROOT}${guide.slug}/`, () => guidePage(options.name, guide))),
    [`${ROOT}search/`, searchHandler(options)],
    [
      `${ROOT}guides.css`,
      staticFile(`${ROOT}guides.css`, { type: "text/css; charset=utf-8", read: () => Buffer.from(GUIDES_CSS) }),
    ],
  ];
}
