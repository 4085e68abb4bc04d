/**
 * `npm run icons`: writes services/console/assets/icons.svg, a sprite of the Lucide icons (ISC licence) that the console's
 * views and pages name. lucide-static has 1,600 icons, so it stays a development dependency.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { iconsUsed } from "../test/support/icons-used.ts";

const CONSOLE = join(import.meta.dirname, "../services/console");
const LUCIDE = join(dirname(createRequire(import.meta.filename).resolve("lucide-static/package.json")), "icons");

const symbolOf = (name: string): string => {
  const svg = readFileSync(join(LUCIDE, `${name}.svg`), "utf8");
  const shapes = svg.slice(svg.indexOf(">", svg.indexOf("<svg")) + 1, svg.lastIndexOf("</svg>"));
  return `<symbol id="${name}" viewBox="0 0 24 24">${shapes.replaceAll(/\s*\n\s*/g, "")}</symbol>`;
};

const available = new Set(readdirSync(LUCIDE));
const names = iconsUsed();
const missing = names.filter((name) => !available.has(`${name}.svg`));
if (missing.length > 0) throw new Error(`Lucide has no icon ${missing.join(", ")}`);
const sprite = `<svg xmlns="http://www.w3.org/2000/svg">\n<title>Icons of Lucide, ISC licence</title>\n${names.map(symbolOf).join("\n")}\n</svg>\n`;
writeFileSync(join(CONSOLE, "assets/icons.svg"), sprite);
