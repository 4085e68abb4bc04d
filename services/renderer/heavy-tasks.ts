/**
 * Tasks that may take long for a large template. They run in a worker thread (heavy.ts) without access to database or
 * secrets. Errors lose their class in transport, so template errors are returned as results.
 */
import type { FieldErrors } from "../lib/errors.ts";
import { mailFindings } from "../lib/mail-check/check-mail.ts";
import type { Finding } from "../lib/mail-check/finding.ts";
import type { Node } from "../lib/template/parser.ts";
import { type Bodies, bodiesOf, htmlProgram, type Source, subjectProgram, textProgram } from "./bodies/bodies.ts";
import { type Facts, factsOf } from "./bodies/facts.ts";
import { companyVariables, UnusableTemplate, unrenderable } from "./content.ts";
import { subjectText } from "./mime/skeleton.ts";
import { run } from "./program/program.ts";
import { type Data, type Scope, scopeOf, textOf } from "./program/scope.ts";
import { type Convertible, convertContent } from "./repair/convert.ts";

/** `cause` is set where nothing is wrong with the template. */
export type Outcome<T> = { made: T } | { fields: FieldErrors } | { error: string; cause: unknown };

function outcomeOf<T>(make: () => T): Outcome<T> {
  try {
    return { made: make() };
  } catch (error) {
    if (error instanceof UnusableTemplate) return { fields: error.fields };
    const { message, cause } = unrenderable(error);
    return { error: message, cause };
  }
}

export interface PageNodes extends Pick<Bodies, "subject" | "html" | "links"> {}

/** A sent email as a page. */
export const pageNodes = (source: Source): Outcome<PageNodes> =>
  outcomeOf(() => {
    const { subject, html, links } = bodiesOf(source);
    return { subject, html, links };
  });

export interface MailNodes extends PageNodes {
  text: readonly Node[];
}

export const mailNodes = (source: Source): Outcome<MailNodes> =>
  outcomeOf(() => {
    const { subject, html, links, text } = bodiesOf(source);
    return { subject, html, links, text: text() };
  });

const SAMPLE_ID = "00000000-0000-0000-0000-000000000000";
const SAMPLE_ADDRESS = "subscriber@example.com";

export interface Preview {
  subject: string;
  html: string;
  text: string;
  facts: Facts;
}

export const converted = (content: Convertible): Outcome<Convertible> => outcomeOf(() => convertContent(content));

export const findings = (html: string): Outcome<Finding[]> => outcomeOf(() => mailFindings(html));

export const facts = (source: Source): Outcome<Facts> => outcomeOf(() => factsOf(source));

/** A template with the given variables: rendered like an email, for a sample recipient. */
export const previewOf = (input: { source: Source; variables: Data; baseUrl: string }): Outcome<Preview> =>
  outcomeOf(() => {
    const { source, variables, baseUrl } = input;
    const bodies = bodiesOf(source);
    const scope = (): Scope =>
      scopeOf(
        { id: SAMPLE_ID, email: textOf(variables.email) || SAMPLE_ADDRESS, variables },
        {
          fallback: companyVariables(source),
          tokens: null,
          preferencesUrl: () => `${baseUrl}/api/emails/public/unsubscribe/${SAMPLE_ID}/`,
        },
      );
    return {
      subject: subjectText(subjectProgram(bodies.subject, baseUrl), scope()),
      html: run(htmlProgram(bodies.html, baseUrl), scope()),
      text: run(textProgram(bodies.text(), baseUrl), scope()),
      facts: factsOf(source),
    };
  });
