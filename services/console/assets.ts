/** Style sheets and scripts of the pages, under names that change with their content, so that browsers keep them for good. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { notFound } from "../lib/errors.ts";
import type { Document } from "../lib/shapes.ts";

interface Asset {
  name: string;
  type: string;
  body: Buffer;
}

function read(file: string, type: string): Asset {
  const body = readFileSync(file);
  const [stem, extension] = file.split("/").at(-1)!.split(".") as [string, string];
  const mark = createHash("sha256").update(body).digest("hex").slice(0, 12);
  return { name: `${stem}-${mark}.${extension}`, type, body };
}

const STYLE = read(join(import.meta.dirname, "assets/console.css"), "text/css; charset=utf-8");

const byName = new Map([STYLE].map((one) => [one.name, one]));

/** Of the style sheet, below /app/assets/. */
export const styleName = STYLE.name;

export function asset(name: string): Document {
  const found = byName.get(name);
  if (!found) throw notFound();
  return {
    content_type: found.type,
    body: found.body,
    headers: { "cache-control": "public, max-age=31536000, immutable" },
  };
}
