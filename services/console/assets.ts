/**
 * The style sheet and the scripts of the pages, under names that change with their content, so that browsers keep them for
 * good. A page never needs a script: scripts keep parts of it fresh.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { notFound } from "../lib/errors.ts";
import type { Document } from "../lib/shapes.ts";

interface Asset {
  name: string;
  type: string;
  body: Buffer;
}

const CSS = "text/css; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";

function named(file: string, type: string, body: Buffer): Asset {
  const [stem, extension] = file.split(".") as [string, string];
  const mark = createHash("sha256").update(body).digest("hex").slice(0, 12);
  return { name: `${stem}-${mark}.${extension}`, type, body };
}

const own = (path: string): Buffer => readFileSync(join(import.meta.dirname, "assets", path));

/** One style sheet for all pages; a later part may use what an earlier one says. */
const STYLE_PARTS = ["tokens", "components", "plots", "new-campaign"];
const style = named("console.css", CSS, Buffer.concat(STYLE_PARTS.map((part) => own(`styles/${part}.css`))));

const resolve = createRequire(import.meta.url).resolve;

/** By the name under which pages ask for them. */
const scripts = {
  htmx: named("htmx.js", SCRIPT, readFileSync(join(resolve("htmx.org/package.json"), "../dist/htmx.min.js"))),
};

const byName = new Map([style, ...Object.values(scripts)].map((one) => [one.name, one]));

/** Of the style sheet, below /app/assets/. */
export const styleName = style.name;

/** Of each script, below /app/assets/. */
export const scriptNames = Object.fromEntries(Object.entries(scripts).map(([key, { name }]) => [key, name]));

export function asset(name: string): Document {
  const found = byName.get(name);
  if (!found) throw notFound();
  return {
    content_type: found.type,
    body: found.body,
    headers: { "cache-control": "public, max-age=31536000, immutable" },
  };
}
