/** Routes of the guides. */
import type { Context } from "../http/context.ts";
import type { RouteHandler } from "../http/router.ts";
import { staticFile } from "../http/static-file.ts";
import { type Described, describeApi } from "../openapi/document.ts";
import { GUIDES, GUIDES_CSP, GUIDES_CSS, guidePage, guidesIndex, IMAGES, readImage, searchPage } from "./guides.ts";
import { operationsOf, search, sectionsOf } from "./search.ts";

const ROOT = "/docs/guides/";
const html = "text/html; charset=utf-8";
const headers = { "Content-Security-Policy": GUIDES_CSP };

type Entries = Parameters<typeof search>[0];

async function entriesOf(options: Described & { name: string }): Promise<Entries> {
  const sections = GUIDES.map(async (guide) =>
    sectionsOf(guide.slug, guide.title, await guidePage(options.name, guide)),
  );
  return [...(await Promise.all(sections)).flat(), ...operationsOf(describeApi(options))];
}

function searchHandler(options: Described & { name: string }): RouteHandler {
  let entries: Promise<Entries> | undefined;
  return async (context: Context) => {
    context.state.route = `${ROOT}search/`;
    // Built at first use: most processes never serve a guide.
    entries ??= entriesOf(options);
    const q = [context.query.q ?? ""].flat()[0]!;
    const found = search(await entries, q);
    context.set({ ...headers, "Content-Type": html });
    context.body = searchPage(options.name, q, found);
  };
}

export function guides(options: Described & { name: string }): [path: string, handler: RouteHandler][] {
  const page = (path: string, read: () => Promise<string>): [string, RouteHandler] => [
    path,
    staticFile(path, { type: html, headers, read: async () => Buffer.from(await read()) }),
  ];
  return [
    page(ROOT, () => guidesIndex(options.name)),
    ...GUIDES.map((guide) => page(`${ROOT}${guide.slug}/`, () => guidePage(options.name, guide))),
    ...IMAGES.map((name): [string, RouteHandler] => {
      const path = `${ROOT}images/${name}`;
      return [path, staticFile(path, { type: "image/webp", read: () => readImage(name) })];
    }),
    [`${ROOT}search/`, searchHandler(options)],
    [
      `${ROOT}guides.css`,
      staticFile(`${ROOT}guides.css`, { type: "text/css; charset=utf-8", read: () => Buffer.from(GUIDES_CSS) }),
    ],
  ];
}
