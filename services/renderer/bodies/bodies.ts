/**
 * Compiles a subject and body into programs: subject, HTML and text, for each of their uses. Preview, web view and mail
 * come from the same templates and differ in their links.
 */
import { escapeHtml } from "../../lib/escape-html.ts";
import { compileTemplate, type Template } from "../../lib/template/compile.ts";
import { type Token, tokenize } from "../../lib/template/lexer.ts";
import { type MarkToken, type Node, parse } from "../../lib/template/parser.ts";
import { UnusableTemplate } from "../content.ts";
import { asIs, line, withoutTags } from "../program/escape.ts";
import { build, type Program, type Uses } from "../program/program.ts";
import { plainWriter, type Writer } from "../program/writer.ts";
import { withFooter, withTextFooter } from "./footer.ts";
import { withPageHead } from "./page-head.ts";
import { withPreheader } from "./preheader.ts";
import { withValuesInAddresses } from "./query-values.ts";
import { textInHtml, withoutPlaceholders } from "./text-in-html.ts";
import { textNodes } from "./text-part.ts";
import { markLinks, trackedLinks } from "./tracked-links.ts";
import { showsAlways, writesAlways } from "./visible.ts";

export interface Source {
  subject: string;
  body: string;
  preheader?: string | null;
  /** Null or blank: derived from the body. */
  textBody?: string | null;
  /** Language of a web page; unset for an email. A web page has a title, but neither preheader nor text part. */
  language?: string | undefined;
  companyName: string;
  footerText: string;
  isTransactional: boolean;
}

export interface Bodies {
  subject: readonly Node[];
  html: readonly Node[];
  /** Created on demand: a web view needs none, and the conversion takes longer than everything else. */
  text: () => readonly Node[];
  /** Addresses whose clicks can be counted, in order of appearance. */
  links: string[];
}

/** Throws UnusableTemplate for a snapshot with a syntax error, which can never be rendered. */
export function bodiesOf(source: Source): Bodies {
  const subject = compileTemplate(source.subject, "subject");
  const body = compileTemplate(source.body, "body");
  const preheader = compileTemplate(source.preheader ?? "", "subject");
  const text = compileTemplate(source.textBody ?? "", "text");
  if (!subject.template || !body.template || !preheader.template || !text.template)
    throw new UnusableTemplate({
      ...(subject.errors && { subject: subject.errors }),
      ...(preheader.errors && { preheader: preheader.errors }),
      ...(body.errors && { body: body.errors }),
      ...(text.errors && { text_body: text.errors }),
    });
  const hasUnsubscribe = showsAlways(source.body, "unsubscribe_url");
  const withFooters = source.isTransactional || hasUnsubscribe ? source.body : withFooter(source.body, source);
  const tokens = markLinks(withFooters);
  const { nodes } = parse(withHiddenText(tokens, withFooters, source, subject.template, preheader.template));
  const makeText = isBlank(source.textBody) ? () => textNodes(tokens) : () => ownTextNodes(source, text.template);
  return { subject: subject.template.nodes, html: nodes, text: makeText, links: trackedLinks(nodes) };
}

const isBlank = (text: string | null | undefined) => !text || text.trim() === "";

/** The tokens of the body with the title of a page, or with the preheader of an email. */
function withHiddenText(
  tokens: readonly (Token | MarkToken)[],
  body: string,
  { language, preheader: words }: Source,
  subject: Template,
  preheader: Template,
): readonly (Token | MarkToken)[] {
  if (language !== undefined)
    return textInHtml(markLinks(withPageHead(withoutPlaceholders(body), language)), subject.tokens);
  return isBlank(words) ? tokens : textInHtml(markLinks(withPreheader(withoutPlaceholders(body))), preheader.tokens);
}

/** Returns nodes of a text part that the author wrote, in which nothing is markup. */
function ownTextNodes(source: Source, { nodes }: Template): Node[] {
  const hasUnsubscribe = source.isTransactional || writesAlways(nodes, "unsubscribe_url");
  const withFooters = hasUnsubscribe ? source.textBody! : withTextFooter(source.textBody!, source, source.body);
  const tokens = withValuesInAddresses(tokenize(withFooters).tokens);
  return parse(tokens.map((token) => (token.type === "value" ? { ...token, raw: false } : token))).nodes;
}

type Tracking = Required<Pick<Uses, "numberOf" | "tokenFor">>;

export const subjectProgram = (nodes: readonly Node[], baseUrl: string): Program =>
  build(nodes, plainWriter(), { baseUrl, escape: line, escapeRaw: line });

export const htmlProgram = (
  nodes: readonly Node[],
  baseUrl: string,
  writer: Writer = plainWriter(),
  tracking?: Tracking,
): Program => build(nodes, writer, { baseUrl, escape: escapeHtml, escapeRaw: asIs, ...tracking });

export const textProgram = (nodes: readonly Node[], baseUrl: string, writer: Writer = plainWriter()): Program =>
  build(nodes, writer, { baseUrl, escape: asIs, escapeRaw: withoutTags });
