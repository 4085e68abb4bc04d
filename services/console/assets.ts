/**
 * Serves the style sheet and the scripts of the pages. Their names contain a hash of the content, so that browsers can
 * cache them for ever. Pages work without scripts; these only refresh parts of them.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { notFound } from "../lib/errors.ts";
import type { Document } from "../lib/shapes.ts";
import { bundled } from "./bundle.ts";

interface Asset {
  name: string;
  type: string;
  body: Buffer;
}

const CSS = "text/css; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";

function assetWithHash(file: string, type: string, body: Buffer): Asset {
  const [stem, extension] = file.split(".") as [string, string];
  const mark = createHash("sha256").update(body).digest("hex").slice(0, 12);
  return { name: `${stem}-${mark}.${extension}`, type, body };
}

const readAsset = (path: string): Buffer => readFileSync(join(import.meta.dirname, "assets", path));

/** All pages share one style sheet; later parts may override earlier ones. */
const STYLE_PARTS = [
  "tokens",
  "base",
  "buttons",
  "fields",
  "cards",
  "tables",
  "badges",
  "navigation",
  "feedback",
  "layout",
  "plots",
  "overview",
  "templates",
  "settings",
  "sending",
  "campaigns",
  "operator",
  "people",
  "segments",
  "new-campaign",
];
const style = assetWithHash(
  "console.css",
  CSS,
  Buffer.concat(STYLE_PARTS.map((part) => readAsset(`styles/${part}.css`))),
);

/** Style sheet of the visual editor. Other pages do not load it. */
const visualStyle = assetWithHash(
  "visual.css",
  CSS,
  Buffer.concat([readAsset("styles/visual.css"), readAsset("styles/visual-mail.css")]),
);

const SVG = "image/svg+xml; charset=utf-8";
const icon = assetWithHash("icon.svg", SVG, readAsset("icon.svg"));
const icons = assetWithHash("icons.svg", SVG, readAsset("icons.svg"));

const resolve = createRequire(import.meta.url).resolve;

/** The key is the name that pages use. */
const scripts = {
  shell: assetWithHash("shell.js", SCRIPT, readAsset("scripts/shell.js")),
  htmx: assetWithHash("htmx.js", SCRIPT, readFileSync(join(resolve("htmx.org/package.json"), "../dist/htmx.min.js"))),
  forms: assetWithHash("forms.js", SCRIPT, readAsset("scripts/forms.js")),
  editor: assetWithHash("editor.js", SCRIPT, readAsset("scripts/editor.js")),
  media: assetWithHash("media.js", SCRIPT, readAsset("scripts/media.js")),
  copy: assetWithHash("copy.js", SCRIPT, readAsset("scripts/copy.js")),
  live: assetWithHash("live.js", SCRIPT, readAsset("scripts/live.js")),
  visual: assetWithHash("visual.js", SCRIPT, bundled("editor")),
  /** Loaded by the forms script where it is needed. */
  code: assetWithHash("code.js", SCRIPT, bundled("code")),
};

const all = [style, visualStyle, icon, icons, ...Object.values(scripts)];
const byName = new Map(all.map((one) => [one.name, one]));

const withoutMark = (name: string) => name.replace(/-[0-9a-f]{12}(?=\.\w+$)/, "");
const byStem = new Map(all.map((one) => [withoutMark(one.name), one]));

/** Name of the style sheet below /app/assets/. */
export const styleName = style.name;

/** Name of the visual editor's style sheet below /app/assets/. */
export const visualStyleName = visualStyle.name;

/** Name of the favicon below /app/assets/. */
export const iconName = icon.name;

/** Name of the icon sprite below /app/assets/. */
export const iconsName = icons.name;

/** Name of each script below /app/assets/. */
export const scriptNames = Object.fromEntries(Object.entries(scripts).map(([key, { name }]) => [key, name]));

/**
 * Returns this version's file for a name with another version's hash, because during an upgrade a page may come from a
 * node of the other version. Such an answer is not cached.
 */
export function asset(name: string): Document {
  const found = byName.get(name) ?? byStem.get(withoutMark(name));
  if (!found) throw notFound();
  const keeps = found.name === name ? "public, max-age=31536000, immutable" : "no-store";
  return { content_type: found.type, body: found.body, headers: { "cache-control": keeps } };
}
