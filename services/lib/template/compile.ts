/**
 * The pure entry to the template language: text in, a tree or sentences about its faults out. Never throws.
 *
 * Not nunjucks: a mail is assembled from static text that was encoded for the wire once per campaign (mime.ts), and for
 * that the pieces of a template must be at hand, which a nunjucks template (one opaque function that returns a string)
 * does not give. It is slower, too (8 µs against 3 for the values alone, and 75 to encode the result: see
 * test/bench/render.ts), and everything it can do beyond `[[…]]` would have to be taken out again.
 */
import { type Fault, type Token, tokenize } from "./lexer.ts";
import { type Node, parse } from "./parser.ts";

export interface Template {
  source: string;
  tokens: readonly Token[];
  nodes: readonly Node[];
}
export type Compiled = { template: Template; errors?: undefined } | { template?: undefined; errors: string[] };

export const MAX_BODY_LENGTH = 1_000_000;
export const MAX_SUBJECT_LENGTH = 998;

/** The first fault of each kind is enough to mend a template; a list of hundreds helps nobody. */
const MAX_ERRORS = 10;

function place(source: string, at: number): string {
  const before = source.slice(0, at);
  const lineStart = Math.max(before.lastIndexOf("\n"), before.lastIndexOf("\r")) + 1;
  const line = before.split(/\r\n|\r|\n/).length;
  return `line ${line}, column ${at - lineStart + 1}`;
}

export function compileTemplate(source: string, kind: "subject" | "body"): Compiled {
  const limit = kind === "subject" ? MAX_SUBJECT_LENGTH : MAX_BODY_LENGTH;
  if (source.length > limit) return { errors: [`Longer than ${limit} characters.`] };
  const { tokens, faults } = tokenize(source);
  const { nodes, faults: structural } = parse(tokens);
  // A tag that was not understood leaves its block open or closed in vain: only what is wrong by itself is told.
  const told: Fault[] = faults.length > 0 ? faults : structural;
  if (told.length > 0) {
    const sorted = told.toSorted((a, b) => a.at - b.at).slice(0, MAX_ERRORS);
    return { errors: sorted.map(({ sentence, at }) => `${sentence} at ${place(source, at)}.`) };
  }
  return { template: { source, tokens, nodes } };
}
