/** Selects the CSS that cannot be inlined and must stay in the style sheet. */

/** Position after the string, comment or escape that starts at `at`; otherwise the next position. */
function skip(css: string, at: number): number {
  const char = css[at]!;
  if (char === "\\") return at + 2;
  if (css.startsWith("/*", at)) {
    const end = css.indexOf("*/", at + 2);
    return end < 0 ? css.length : end + 2;
  }
  if (char !== '"' && char !== "'") return at + 1;
  let i = at + 1;
  while (i < css.length && css[i] !== char && css[i] !== "\n") i += css[i] === "\\" ? 2 : 1;
  return i + 1;
}

/** End of the block that opens at `at`. */
function blockEnd(css: string, at: number): number {
  let depth = 0;
  let i = at;
  while (i < css.length) {
    if (css[i] === "{") depth++;
    if (css[i] === "}" && --depth === 0) return i + 1;
    i = skip(css, i);
  }
  return css.length;
}

const COMMENTS = /\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g;

/**
 * Keeps media queries and all other at-rules, and rules for a state or part of an element (`:hover`, `::before`),
 * unchanged except for comments between rules.
 */
export function keptCss(css: string): string {
  const kept: string[] = [];
  let start = 0;
  let i = 0;
  const take = (end: number, isKept: boolean) => {
    if (isKept) kept.push(css.slice(start, end).replace(COMMENTS, "").trim());
    start = end;
    i = end;
  };
  while (i < css.length) {
    const head = css.slice(start, i).replace(COMMENTS, "").trimStart();
    if (css[i] === ";") take(i + 1, head.startsWith("@"));
    else if (css[i] === "{") take(blockEnd(css, i), head.startsWith("@") || head.includes(":"));
    else i = skip(css, i);
  }
  return kept.join("\n");
}
