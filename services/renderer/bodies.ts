/**
 * The programs of one content: subject, HTML and text, for each use they are put to. Preview, view and mail are the
 * same templates with other links.
 */
import { compileTemplate } from "../lib/template/compile.ts";
import { type Node, parse } from "../lib/template/parser.ts";
import { showsAlways } from "./bodies/visible.ts";
import { Unrenderable } from "./content.ts";
import { asIs, html, line, withoutTags } from "./escape.ts";
import { withFooter } from "./footer.ts";
import { markLinks, trackedLinks } from "./links.ts";
import { build, type Program, type Uses } from "./program.ts";
import { textNodes } from "./text-part.ts";
import { plainWriter, type Writer } from "./writer.ts";

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
  /** Made when asked for: a page needs none, and conversion takes longer than all the rest. */
  text: () => readonly Node[];
  /** Addresses that clicks can be counted for, in order of appearance. */
  links: string[];
}

/** Throws only for what can never be rendered: a snapshot whose syntax is wrong. */
export function bodiesOf(source: Source): Bodies {
  const subject = compileTemplate(source.subject, "subject");
  const body = compileTemplate(source.body, "body");
  const errors = [...(subject.errors ?? []), ...(body.errors ?? [])];
  if (!subject.template || !body.template)
    throw new Unrenderable(`The template cannot be rendered: ${errors.join(" ")}`);
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
