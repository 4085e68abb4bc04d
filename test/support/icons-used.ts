/** Names of the icons that the console's views and pages use, in order. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const CONSOLE = join(import.meta.dirname, "../../services/console");
/** A call of the macro `icon`, an argument `icon=…` of another macro, or a property of a page's values. */
const USE = /\b(?:icon|empty)(?:\(|=|: )"([a-z0-9-]+)"/g;

export function iconsUsed(): string[] {
  const files = readdirSync(CONSOLE, { recursive: true, encoding: "utf8" }).filter((file) =>
    /\.(?:tsx?|njk)$/.test(file),
  );
  const texts = files.map((file) => readFileSync(join(CONSOLE, file), "utf8"));
  const names = texts.flatMap((text) => [...text.matchAll(USE)].map(([, name]) => name!));
  return [...new Set(names)].toSorted();
}
