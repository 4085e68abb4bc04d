/** What axe finds wrong with a page, by WCAG 2.1 AA and its own best practice. The page's policy must be bypassed for it. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.filename).resolve("axe-core/axe.min.js"), "utf8");
export const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];
/** Its best practice is about whole pages, which a mail is not. */
const OF_PAGES = [...WCAG, "best-practice"];

/**
 * Text in the colour of its ground, which axe leaves to a person to judge: it could be hidden on purpose, and here none is.
 * Runs in the page.
 */
const invisible = `(incomplete) => incomplete.flatMap(({ id, nodes }) => {
  const same = nodes.filter(({ any }) => any.some(({ data }) => data?.messageKey === "equalRatio"));
  return same.length > 0 ? [{ id: id + " (none)", nodes: same }] : [];
})`;

interface Violation {
  id: string;
  nodes: { html: string }[];
}

export async function violations(page: Page, rules: readonly string[] = OF_PAGES): Promise<string[]> {
  await page.evaluate(AXE);
  const found = (await page.evaluate(
    `axe.run({ runOnly: ${JSON.stringify(rules)} }).then((r) => [...r.violations, ...(${invisible})(r.incomplete)])`,
  )) as Violation[];
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
