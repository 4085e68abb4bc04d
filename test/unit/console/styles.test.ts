import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const CONSOLE = join(import.meta.dirname, "../../../services/console");
const textsOf = (endings: RegExp): string[] =>
  readdirSync(CONSOLE, { recursive: true, encoding: "utf8" })
    .filter((file) => endings.test(file))
    .map((file) => readFileSync(join(CONSOLE, file), "utf8"));

test("the style sheet has no class that no view or script uses", () => {
  const sources = textsOf(/\.(?:tsx?|js|njk)$/).join("\n");
  // htmx sets the last one itself.
  const words = new Set([...sources.match(/[\w-]+/g)!, "htmx-request"]);
  /** Beginnings of composed names, such as `status-` of `status-{{ name }}`. */
  const beginnings = [...sources.matchAll(/([a-z]+-)(?:\{\{|\$\{)/g)].map(([, beginning]) => beginning!);
  const classes = textsOf(/\.css$/).flatMap((text) =>
    [...text.replaceAll(/\{[^{}]*\}/g, "{}").matchAll(/\.([a-z][\w-]*)/g)].map(([, name]) => name!),
  );
  const isUsed = (name: string) => words.has(name) || beginnings.some((beginning) => name.startsWith(beginning));
  expect([...new Set(classes)].filter((name) => !isUsed(name)).toSorted()).toEqual([]);
});
