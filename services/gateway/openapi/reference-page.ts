/** Serves Swagger UI from its npm package at GET /docs/, without external resources. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { RouteHandler } from "../http/router.ts";
import { staticFile } from "../http/static-file.ts";

// Swagger UI draws its arrows as data: images and writes style attributes; it needs neither eval nor inline scripts.
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>API reference</title>
<link rel="stylesheet" href="swagger-ui.css">
<link rel="icon" href="data:,">
</head>
<body>
<nav aria-label="Documentation"><a href="guides/">Guides</a></nav>
<main id="reference"><noscript>The reference needs JavaScript. The description itself is at <a href="../openapi.json">openapi.json</a>.</noscript></main>
<script src="swagger-ui-bundle.js"></script>
<script src="start.js"></script>
</body>
</html>
`;

const START = `SwaggerUIBundle({
  url: "../openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  docExpansion: "none",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  persistAuthorization: false,
  presets: [SwaggerUIBundle.presets.apis],
});
`;

interface File {
  type: string;
  read: () => Promise<Buffer>;
}

const require = createRequire(join(import.meta.dirname, "docs.ts"));
const fromPackage = (name: string) => () =>
  readFile(join(dirname(require.resolve("swagger-ui-dist/package.json")), name));
const ours = (text: string) => async () => Buffer.from(text);

const FILES: Record<string, File> = {
  "/docs/": { type: "text/html; charset=utf-8", read: ours(PAGE) },
  "/docs/start.js": { type: "text/javascript; charset=utf-8", read: ours(START) },
  "/docs/swagger-ui.css": { type: "text/css; charset=utf-8", read: fromPackage("swagger-ui.css") },
  "/docs/swagger-ui-bundle.js": { type: "text/javascript; charset=utf-8", read: fromPackage("swagger-ui-bundle.js") },
};

export const referencePage = () =>
  Object.entries(FILES).map(([path, { type, read }]): [string, RouteHandler] => [
    path,
    staticFile(path, { type, read, headers: { "Content-Security-Policy": CSP } }),
  ]);
