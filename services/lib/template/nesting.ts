/**
 * Limits the nesting of a body's elements, as seen by the parser of the text part (html-to-text): each tag costs time
 * proportional to its depth, so that 200,000 open `<div>` would take minutes.
 */
import { Parser } from "htmlparser2";

/** Real emails stay below 60; beyond about a hundred email clients show nothing sensible. */
export const MAX_NESTING = 500;

/** Quick test for enough tags: most bodies have fewer and need no parsing. */
function hasAngleBrackets(html: string, minimum: number): boolean {
  let at = -1;
  for (let found = 0; found < minimum; found++) {
    at = html.indexOf("<", at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** Position of the first element that is nested too deeply, or null. */
export function tooDeepAt(html: string): number | null {
  if (!hasAngleBrackets(html, MAX_NESTING + 1)) return null;
  let depth = 0;
  let at: number | null = null;
  const parser = new Parser({
    onopentagname() {
      depth++;
      if (depth <= MAX_NESTING || at !== null) return;
      at = parser.startIndex;
      parser.pause();
    },
    onclosetag() {
      depth--;
    },
  });
  parser.write(html);
  return at;
}
