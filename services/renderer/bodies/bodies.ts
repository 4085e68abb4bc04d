/**
 * Compiles a subject and body into programs: subject, HTML and text, for each of their uses. Preview, web view and mail
 * come from the same templates and differ in their links.
 */
import { compileTemplate } from "../../lib/template/compile.ts";
import { type Node, parse } from "../../lib/template/parser.ts";
import { UnusableTemplate } from "../content.ts";
import { asIs, html, line, withoutTags } from "../program/escape.ts";
import { build, type Program, type Uses } from "../program/program.ts";
import { plainWriter, type Writer } from "../program/writer.ts";
import { withFooter } from "./footer.ts";
import { textNodes } from "./text-part.ts";
import { markLinks, trackedLinks } from "./tracked-links.ts";
import { showsAlways } from "./visible.ts";

export interface Source {
  subject: string;
  body: string;
  companyName: string;
  footerText: string;
  isTransactional: boolean;
}

export interface Bodies {
  subject: readonly Node[];
  html: readonly Node[];
  /** Made on demand: a web view needs none, and the conversion takes longer than everything else. */
  text: () => readonly Node[];
  /** Addresses whose clicks can be counted, in order of appearance. */
  links: string[];
}

/** Throws UnusableTemplate for a snapshot with a syntax error, which can never be rendered. */
export function bodiesOf(source: Source): Bodies {
  const subject = compileTemplate(source.subject, "subject");
  const body = compileTemplate(source.body, "body");
  if (!subject.template || !body.template)
    throw new UnusableTemplate({
      ...(subject.errors && { subject: subject.errors }),
      ...(body.errors && { body: body.errors }),
    });
  const hasUnsubscribe = showsAlways(source.body, "unsubscribe_url");
  const whole = source.isTransactional || hasUnsubscribe ? source.body : withFooter(source.body, source);
  const tokens = markLinks(whole);
  const { nodes } = parse(tokens);
  return { subject: subject.template.nodes, html: nodes, text: () => textNodes(tokens), links: trackedLinks(nodes) };
}

type Tracking = Required<Pick<Uses, "numberOf" | "tokenFor">>;

export const subjectProgram = (nodes: readonly Node[], baseUrl: string): Program =>
  build(nodes, plainWriter(), { baseUrl, escape: line, escapeRaw: line });

export const htmlProgram = (
  nodes: readonly Node[],
  baseUrl: string,
  writer: Writer = plainWriter(),
  tracking?: Tracking,
): Program => build(nodes, writer, { baseUrl, escape: html, escapeRaw: asIs, ...tracking });

export const textProgram = (nodes: readonly Node[], baseUrl: string, writer: Writer = plainWriter()): Program =>
  build(nodes, writer, { baseUrl, escape: asIs, escapeRaw: withoutTags });
