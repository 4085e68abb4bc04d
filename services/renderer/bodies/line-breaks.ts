/** Line breaks around the tags of a text part: they separated blocks of HTML, and must not add up. */
import type { Token } from "../../lib/template/lexer.ts";

const leadingBreaks = (text: string) => text.length - text.replace(/^\n+/, "").length;

/** Not by `/\n+$/`, which takes quadratic time on a run that is not the last. */
function trailingBreaks(text: string): number {
  let at = text.length;
  while (text[at - 1] === "\n") at--;
  return text.length - at;
}

/** The index of each loop's end, by the index of its start. */
function endsOfLoops(tokens: readonly Token[]): Map<number, number> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  tokens.forEach(({ type }, i) => {
    if (type === "each") open.push(i);
    if (type === "endeach") ends.set(open.pop() ?? -1, i);
  });
  return ends;
}

const textAt = (tokens: readonly Token[], i: number) => {
  const token = tokens[i];
  return token?.type === "text" ? token.text : "";
};

/** If a loop's iterations end with a line break, those at their start are moved in front of the loop. */
function withBreaksBeforeLoops(tokens: readonly Token[]): Token[] {
  const ends = endsOfLoops(tokens);
  const out: Token[] = [];
  let removed = 0;
  tokens.forEach((token, i) => {
    if (token.type === "text" && removed > 0) {
      out.push({ ...token, text: token.text.slice(removed) });
      removed = 0;
      return;
    }
    if (token.type === "each" && trailingBreaks(textAt(tokens, ends.get(i)! - 1)) > 0) {
      removed = leadingBreaks(textAt(tokens, i + 1));
      const missing = removed - trailingBreaks(textAt(tokens, i - 1));
      if (missing > 0) out.push({ type: "text", text: "\n".repeat(missing), at: token.at });
    }
    out.push(token);
  });
  return out;
}

/**
 * Removes the extra line break of a tag that has a line for itself: the line breaks before and after it are together
 * limited to the two that separate paragraphs. The other branch of a condition begins with as many as the condition
 * did.
 */
export function joinedLines(given: readonly Token[]): Token[] {
  const tokens = withBreaksBeforeLoops(given);
  const atIf: number[] = [];
  let breaks = 2;
  let afterBlock = true;
  return tokens.map((token) => {
    if (token.type === "text") {
      const ownBreaks = leadingBreaks(token.text);
      const text = afterBlock ? token.text.slice(Math.max(0, ownBreaks - Math.max(0, 2 - breaks))) : token.text;
      breaks = /^\n*$/.test(text) ? breaks + text.length : trailingBreaks(text);
      if (text !== "") afterBlock = false;
      return { ...token, text };
    }
    afterBlock = token.type !== "value";
    if (token.type === "value") breaks = 0;
    if (token.type === "if") atIf.push(breaks);
    if (token.type === "else") breaks = atIf.at(-1) ?? breaks;
    if (token.type === "endif") atIf.pop();
    return token;
  });
}
