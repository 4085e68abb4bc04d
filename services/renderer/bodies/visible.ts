/** Determines what every recipient sees of a body, independent of values, and where content can be added. */
import { type Token, tokenize } from "../../lib/template/lexer.ts";
import { type Node, parse } from "../../lib/template/parser.ts";
import { outlineOf, spanAt } from "./html-outline.ts";

/** Set for every recipient (scope.ts), so that a condition on them is always met. */
const ALWAYS_SET = new Set(["email", "unsubscribe_url", "view_in_browser_url", "preferences_url"]);

const isVariable = (node: Node, isOne: (name: string) => boolean): boolean =>
  "path" in node && node.path.from === "variables" && isOne(node.path.name);

/** True if every recipient sees this variable in a text template. */
export function writesAlways(nodes: readonly Node[], name: string): boolean {
  return nodes.some((node) => {
    // Encoded it is the part of another address, and nothing that can be followed.
    if (node.kind === "value") return !node.urlEncoded && isVariable(node, (variable) => variable === name);
    if (node.kind !== "if" || !writesAlways(node.body, name)) return false;
    return isVariable(node, (variable) => ALWAYS_SET.has(variable)) || writesAlways(node.otherwise, name);
  });
}

/**
 * True if every recipient can see this variable as text or follow it as a link: not in a comment (conditional ones are
 * for Outlook only), nor in other attributes, nor within a condition or loop.
 */
export function showsAlways(body: string, name: string): boolean {
  if (!body.toLowerCase().includes(name)) return false;
  const { unseen } = outlineOf(body);
  const tokens = tokenize(body).tokens.map(
    (token): Token =>
      token.type === "value" && spanAt(unseen, token.at) ? { type: "text", text: "", at: token.at } : token,
  );
  return writesAlways(parse(tokens).nodes, name);
}

/** Outermost conditions and loops, in order. */
function outermostBlocks(html: string): { start: number; end: number }[] {
  const blocks: { start: number; end: number }[] = [];
  let depth = 0;
  for (const { type, at } of tokenize(html).tokens) {
    if ((type === "if" || type === "each") && depth++ === 0) blocks.push({ start: at, end: html.length });
    if ((type === "endif" || type === "endeach") && --depth === 0) blocks.at(-1)!.end = at;
  }
  return blocks;
}

/**
 * Position for added content that everybody sees: before the last real `</body>` outside a block, else `</html>`, else
 * at the end.
 */
export function bodyEnd(html: string, { closes, end } = outlineOf(html)): number {
  const blocks = outermostBlocks(html);
  for (const wanted of ["body", "html"]) {
    const last = closes.findLast(({ name, at }) => name === wanted && !spanAt(blocks, at));
    if (last) return last.at;
  }
  return spanAt(blocks, end)?.start ?? end;
}

/**
 * Positions for content at the start of an email: after `<body>` (after each, if conditions choose between several), else
 * after the head, else at the start.
 */
export function bodyStarts(html: string): number[] {
  const { opens, closes } = outlineOf(html);
  const bodies = opens.filter(({ name }) => name === "body").map(({ end }) => end);
  if (bodies.length > 0) return bodies;
  const head = closes.findLast(({ name }) => name === "head") ?? opens.findLast(({ name }) => name === "html");
  return [head?.end ?? /^\s*<!doctype[^>]*>/i.exec(html)?.[0].length ?? 0];
}
