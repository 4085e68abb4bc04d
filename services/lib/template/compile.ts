/**
 * Compiles a template: text in, a tree or error sentences out. Pure, never throws.
 *
 * Nunjucks is not used: an email is assembled from static text that is encoded for the wire once per campaign (the
 * renderer's mime/skeleton.ts). This needs the pieces of a template, but a nunjucks template is one opaque function
 * that returns a string. Nunjucks is also slower, and everything it can do beyond `[[…]]` would have to be disabled.
 */
import { type TemplateError, type Token, tokenize } from "./lexer.ts";
import { MAX_NESTING, tooDeepAt } from "./nesting.ts";
import { type Node, parse } from "./parser.ts";

export interface Template {
  source: string;
  tokens: readonly Token[];
  nodes: readonly Node[];
}
type Compiled = { template: Template; errors?: undefined } | { template?: undefined; errors: string[] };

export const MAX_BODY_LENGTH = 1_000_000;
export const MAX_SUBJECT_LENGTH = 998;
/**
 * Maximum number of tags. An email has about a dozen; each costs time per recipient and memory per compiled template.
 */
const MAX_TAGS = 10_000;

/** "subject": one line (also preheaders). "body": HTML. "text": plain text or MJML, whose nesting is not checked. */
export type Kind = "subject" | "body" | "text";

/** The first few errors are enough to fix a template. */
const MAX_ERRORS = 10;

export function lineAndColumn(source: string, at: number): string {
  const before = source.slice(0, at);
  const lineStart = Math.max(before.lastIndexOf("\n"), before.lastIndexOf("\r")) + 1;
  const line = before.split(/\r\n|\r|\n/).length;
  return `line ${line}, column ${at - lineStart + 1}`;
}

/** Valid constructs that would cost too much. */
function excesses(source: string, tokens: readonly Token[], kind: Kind): TemplateError[] {
  const tags = tokens.filter(({ type }) => type !== "text");
  if (tags.length > MAX_TAGS) return [{ sentence: `More than ${MAX_TAGS} tags`, at: tags[MAX_TAGS]!.at }];
  const deepAt = kind === "body" ? tooDeepAt(source) : null;
  return deepAt === null ? [] : [{ sentence: `Elements nested deeper than ${MAX_NESTING} levels`, at: deepAt }];
}

export function compileTemplate(source: string, kind: Kind): Compiled {
  const limit = kind === "subject" ? MAX_SUBJECT_LENGTH : MAX_BODY_LENGTH;
  if (source.length > limit) return { errors: [`Longer than ${limit} characters.`] };
  const { tokens, errors } = tokenize(source);
  const { nodes, errors: structural } = parse(tokens);
  // An invalid tag makes its block look unbalanced, so structural errors are reported only if no tag is invalid.
  const syntax: TemplateError[] = errors.length > 0 ? errors : structural;
  const reported = syntax.length > 0 ? syntax : excesses(source, tokens, kind);
  if (reported.length > 0) {
    const sorted = reported.toSorted((a, b) => a.at - b.at).slice(0, MAX_ERRORS);
    return { errors: sorted.map(({ sentence, at }) => `${sentence} at ${lineAndColumn(source, at)}.`) };
  }
  return { template: { source, tokens, nodes } };
}
