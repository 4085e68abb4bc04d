/**
 * How deep the elements of a body stand in each other, as the parser sees it that its text is made with (html-to-text's):
 * each tag costs that parser its depth, so that 200,000 open `<div>` would take it minutes.
 */
import { Parser } from "htmlparser2";

/** Mails that people have made stay below 60; beyond some hundred no mail program shows anything sensible. */
export const MAX_NESTING = 500;

/** Whether there are enough tags at all: most bodies have not, and need not be parsed. */
function hasTags(html: string, least: number): boolean {
  let at = -1;
  for (let found = 0; found < least; found++) {
    at = html.indexOf("<", at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** Where the first element begins that stands too deep, or null. */
export function tooDeepAt(html: string): number | null {
  if (!hasTags(html, MAX_NESTING + 1)) return null;
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
