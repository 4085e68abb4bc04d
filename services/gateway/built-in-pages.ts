/** Pages that the gateway serves itself: `/`, `/api/`, the OpenAPI document and its viewer. */
import { escapeHtml } from "../lib/escape-html.ts";
import { PAGE_CSP, PAGE_CSS } from "../lib/page-style/page-style.ts";
import { VERSION as version } from "../lib/version.ts";
import { guides } from "./guides/routes.ts";
import type { Context } from "./http/context.ts";
import { htmlPage } from "./http/html-page.ts";
import type { RouteHandler } from "./http/router.ts";
import { staticFile } from "./http/static-file.ts";
import { type Described, describeApi } from "./openapi/document.ts";
import { referencePage } from "./openapi/reference-page.ts";

interface BuiltInPagesOptions extends Described {
  /** The configured SERVICE_NAME. */
  name: string;
}

/**
 * HTML for browsers, else JSON. `root` is the relative path from the page to the root, whatever address the browser
 * used.
 */
function about(path: string, root: string, { name, baseUrl }: BuiltInPagesOptions): RouteHandler {
  const title = escapeHtml(name);
  const main = `<h1>${title}</h1>
<p>An email campaign service with a REST API. Version ${version}.</p>
<p><a href="${root}app/">Console</a></p>
<p><a href="${root}docs/">API reference</a></p>
<p><a href="${root}docs/guides/">Guides</a></p>
<p><a href="${root}openapi.json">OpenAPI 3.1 document</a></p>`;
  const html = htmlPage(name, main, { style: PAGE_CSS });
  const json = { name, version, docs: `${baseUrl}/docs/`, openapi: `${baseUrl}/openapi.json` };
  return (context: Context) => {
    context.state.route = path;
    context.vary("Accept");
    if (context.accepts("json", "html") !== "html") {
      context.body = json;
      return;
    }
    context.set("Content-Security-Policy", PAGE_CSP);
    context.type = "html";
    context.body = html;
  };
}

function openApi(options: Described): RouteHandler {
  return staticFile("/openapi.json", {
    type: "application/json; charset=utf-8",
    read: () => Buffer.from(JSON.stringify(describeApi(options))),
    // Tools on other origins may read the document; it contains no secret.
    headers: { "Access-Control-Allow-Origin": "*" },
  });
}

export function builtInPages(options: BuiltInPagesOptions): [path: string, handler: RouteHandler][] {
  return [
    ["/", about("/", "", options)],
    ["/api/", about("/api/", "../", options)],
    ["/openapi.json", openApi(options)],
    ...referencePage(),
    ...guides(options),
  ];
}
