/** Violations found by axe: WCAG 2.1 AA and axe's best practice. Needs a page without its Content-Security-Policy. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.filename).resolve("axe-core/axe.min.js"), "utf8");
export const WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"];
/** Best practice applies to whole pages, not to mails. */
const OF_PAGES = [...WCAG, "best-practice"];

/**
 * Text in the colour of its background, which axe reports as undecided because it may be intended; here it never is.
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
